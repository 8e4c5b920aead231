"""`storefront`: a TypeScript shop. Hydration, the cart's state, a wrong turn that was stopped, open work.

Its checkpoints live in the refs backend, one ref each, with ULIDs.
"""

from __future__ import annotations

from pathlib import Path

from examples.history import JONAS, LEA, History, Talk, when
from examples.sessions import ClaudeTranscript, GitRepository

NAME = "storefront"

_CONFIG = """
    project_id: storefront
    max_new_pages: 20
"""

_FORMAT = """
    sections:
      - name: Key Decisions & Rationale
        purpose: why things are the way they are
      - name: Gotchas & Friction
        purpose: things that burned time
        recency: 14d
      - name: Open Work
        purpose: what a new session should pick up
        recency: 7d
      - name: Critical Pitfalls
        purpose: reverted work and failed approaches
        recency: 90d
      - name: Preferences
        purpose: how this team wants its code

    citations: required
    max_lines: 150
"""

_DELIVERY = """
    export function deliveryText(iso: string, locale: string): string {
      return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "Europe/Berlin" }).format(new Date(iso));
    }
"""

_CART = """
    import { createStore } from "zustand/vanilla";

    export const createCart = (lines: Line[]) => createStore<Cart>(() => ({ lines }));
"""


def first_night(path: Path) -> None:
    history = History(NAME, GitRepository.create(path), refs=True)
    _beginnings(history)
    _hydration(history)
    _cart(history)
    _prefetch(history)
    _checkout(history)
    _images(history)
    history.commit(
        "2026-03-18 17:05",
        JONAS,
        """
        docs(checkout): no end-to-end test of the 3-D Secure redirect yet

        Still open: there is no end-to-end test for the 3-D Secure redirect, the sandbox answers from another origin and
        Playwright loses the session there. Until `checkout-3ds.spec.ts` exists, somebody has to click through the
        3-D Secure redirect by hand before every release.
        """,
        {"docs/checkout.md": "# Checkout\n\nStripe Elements, one page, no account needed."},
    )


def second_night(path: Path) -> None:
    history = History(NAME, GitRepository(path), refs=True)
    history.commit_wiki("2026-03-20 08:10", JONAS)
    talk = LEA.claude(NAME, "3-D Secure test", "2026-03-23 13:20")
    talk.prompt("write checkout-3ds.spec.ts. sandbox redirects to another origin and playwright drops the cookie")
    talk.tool("Read", {"file_path": "playwright.config.ts"}, "use: { storageState: undefined }")
    talk.reply("The cookie is `SameSite=Strict`, so the browser does not send it after the redirect back to us.")
    talk.prompt("then set it to Lax for the checkout path only, not for the whole shop")
    talk.tool("Write", {"file_path": "e2e/checkout-3ds.spec.ts", "content": "..."}, "File created successfully")
    talk.reply("`checkout-3ds.spec.ts` is green, the checkout cookie is `SameSite=Lax` below `/checkout`.")
    tested = history.checkpoint(Talk(talk, ["e2e/checkout-3ds.spec.ts"]))
    history.commit(
        "2026-03-23 15:02",
        LEA,
        """
        feat(checkout): test the 3-D Secure redirect end to end (#88)

        Done: `checkout-3ds.spec.ts` replaces the clicking by hand before a release. The session was lost because the
        cookie was `SameSite=Strict`, and the redirect back from the bank is a cross-site navigation. The cookie of
        `/checkout` is now `Lax`; the rest of the shop stays `Strict`.
        """,
        {"e2e/checkout-3ds.spec.ts": "test('3-D Secure redirect', async () => {});"},
        tested,
    )
    history.commit(
        "2026-03-24 10:30",
        JONAS,
        """
        fix(cart): create one Zustand store per request

        A module-level Zustand store is shared by all requests on the server, because Node keeps the module between
        requests: one customer saw the cart of another for a second. The cart store is now created in the layout and
        passed down through context.
        """,
        {"app/cart/provider.tsx": "export const CartProvider = () => null;"},
    )


def _beginnings(history: History) -> None:
    history.commit(
        "2026-02-18 09:00",
        JONAS,
        """
        Start the storefront

        Next.js with server components, because most of the shop is text that search engines must read, and the old
        single-page shop lost its place in the results for half a year.
        """,
        {"app/page.tsx": "export default function Home() { return <main>Harbour Goods</main>; }"},
    )
    history.commit(
        "2026-02-18 09:20",
        JONAS,
        "chore: switch the nightly wiki on",
        {".reflect/config.yaml": _CONFIG, ".reflect/format.yaml": _FORMAT},
    )
    history.commit(
        "2026-02-23 11:45",
        LEA,
        """
        chore: use pnpm instead of npm

        npm hoists packages, so `import "csstype"` worked on laptops without being listed and failed in the image that
        installs production dependencies only. pnpm does not hoist, and the mistake shows at once.
        """,
        {"package.json": '{ "name": "storefront", "packageManager": "pnpm@10.4.0" }'},
    )


def _hydration(history: History) -> None:
    talk = JONAS.claude(NAME, "hydration", "2026-03-03 09:00")
    talk.prompt(
        "console is full of 'Text content does not match server-rendered HTML' on the product page. only in prod"
    )
    talk.tool("Grep", {"pattern": "toLocale", "path": "app"}, "app/product/delivery.tsx:14: date.toLocaleDateString()")
    talk.reply(
        "The delivery date is formatted with `toLocaleDateString()`. To silence the warning I will load the whole "
        "product page with `dynamic(() => import('./page'), { ssr: false })`."
    )
    talk.tool("Edit", {"file_path": "app/product/page.tsx", "old_string": "a", "new_string": "b"}, "Updated")
    talk.interruption()
    talk.prompt(
        "no dont turn off ssr for the product page, we need the html for seo. format the date on the server with a "
        "fixed time zone and pass the string down"
    )
    talk.tool("Edit", {"file_path": "app/product/page.tsx", "old_string": "b", "new_string": "a"}, "Updated")
    talk.tool("Write", {"file_path": "lib/delivery.ts", "content": "..."}, "File created successfully")
    talk.reply(
        "Turns out that the server runs in UTC and the browser in the customer's zone, so an order placed late in the "
        "evening shows two different days. `deliveryText()` now formats on the server with `Europe/Berlin`."
    )
    first = history.checkpoint(Talk(talk, ["lib/delivery.ts", "app/product/page.tsx"]))
    history.commit(
        "2026-03-03 10:15",
        JONAS,
        """
        fix(product): format delivery dates on the server

        The root cause of the hydration errors: the server runs in UTC and the browser in the customer's time zone, so
        `toLocaleDateString()` gave two different days late in the evening. The date is now formatted once, on the
        server, with a fixed time zone, and travels as a string.
        """,
        {"lib/delivery.ts": _DELIVERY},
        first,
    )
    talk.at = when("2026-03-04 08:40")
    talk.prompt("same thing with prices now, the currency symbol jumps")
    talk.steer(
        "Edit",
        {"file_path": "app/product/price.tsx", "old_string": "a", "new_string": "b"},
        "put it next to deliveryText in lib/, all formatting that depends on locale or time zone lives there",
        "Updated",
    )
    talk.reply("`priceText()` now lives beside `deliveryText()`, and the component receives a string.")
    second = history.checkpoint(Talk(talk, ["lib/price.ts", "app/product/price.tsx"]))
    history.commit(
        "2026-03-04 09:10",
        JONAS,
        """
        fix(product): format prices on the server too

        Node without full ICU falls back to `EUR 12.00` where the browser writes `12,00 €`, so the price jumped when
        the page became interactive. All formatting that depends on locale or time zone lives in `lib/` from here on.
        """,
        {"lib/price.ts": "export function priceText(cents: number): string { return ''; }"},
        second,
    )


def _cart_talk() -> ClaudeTranscript:
    talk = LEA.claude(NAME, "cart state", "2026-03-09 10:00")
    talk.prompt("the cart lives in 5 contexts now, every click renders the whole header. clean this up")
    talk.tool("Glob", {"pattern": "app/**/context.tsx"}, "app/cart/context.tsx\napp/header/context.tsx")
    talk.question("Which library should hold the cart's state?", ["Zustand", "Redux Toolkit"], "Zustand")
    talk.reply("I will move the cart into one Zustand store and let the header select the number of lines only.")
    talk.prompt("reason for the record: bundle. redux toolkit adds 14 kB gzip and the cart page must stay under 90")
    talk.tool("Write", {"file_path": "app/cart/store.ts", "content": "..."}, "File created successfully")
    talk.tool("Bash", {"command": "git status --short"}, " M app/header/cart-badge.tsx\n?? app/cart/store.ts")
    talk.reply("The header now renders only when the number of lines changes.")
    return talk


def _cart(history: History) -> None:
    chosen = history.checkpoint(Talk(_cart_talk(), ["app/cart/store.ts"]))
    tests = LEA.claude(NAME, "cart tests", "2026-03-10 09:00", branch="cart-store")
    tests.prompt("add tests for the cart store")
    tests.reply("I will use `@testing-library/react` and mock the store with `jest.mock('zustand')`.")
    tests.prompt(
        "please dont mock the store in tests, create a real one per test with createCart. mocks hid the last two bugs"
    )
    tests.tool("Write", {"file_path": "app/cart/store.test.ts", "content": "..."}, "File created successfully")
    tests.reply("Every test now calls `createCart()` and works on a real store.")
    tested = history.checkpoint(Talk(tests, ["app/cart/store.test.ts"]))
    history.commit(
        "2026-03-10 10:20",
        LEA,
        f"""
        Move the cart into one store (#64)

        * refactor(cart): one Zustand store instead of five contexts

        Zustand rather than Redux Toolkit, because the cart page has a budget of 90 kB and Redux Toolkit alone takes
        14 kB of it. Components select the slice they need, so the header no longer renders on every change.

        Entire-Checkpoint: {chosen}

        * test(cart): real stores in tests

        Entire-Checkpoint: {tested}

        ---------

        Co-authored-by: Jonas Weber <jonas@harbour.example>
        """,
        {"app/cart/store.ts": _CART, "app/cart/store.test.ts": "test('adds a line', () => {});"},
    )


def _prefetch(history: History) -> None:
    commit = history.commit(
        "2026-03-11 14:30",
        JONAS,
        """
        feat(search): prefetch results on hover

        Search feels instant when the results are there before the click.
        """,
        {"app/search/link.tsx": "export const SearchLink = () => <a onMouseEnter={prefetch} />;"},
    )
    history.revert(
        "2026-03-12 08:10",
        JONAS,
        commit,
        """
        Revert "feat(search): prefetch results on hover"

        This reverts commit {commit}.

        Prefetching on hover tripled the calls to the search API, because people move the mouse across the whole list.
        The search cluster throttled us and the real searches became slower. Prefetch only what is visible for longer
        than 200 ms, or not at all.
        """,
    )


def _checkout(history: History) -> None:
    talk = JONAS.claude(NAME, "checkout form", "2026-03-16 09:30")
    talk.prompt("address form loses its content when the payment fails")
    talk.tool("Read", {"file_path": "app/checkout/form.tsx"}, "'use client'")
    talk.plan(
        "1. Keep the address in local storage.\n2. Read it again when the form is mounted.",
        approved=False,
        reason="no personal data in local storage, legal said so in the last audit. keep it in the server session",
    )
    talk.reply("I will keep the address in the server session and send it back with the error.")
    talk.tool("Edit", {"file_path": "app/checkout/actions.ts", "old_string": "a", "new_string": "b"}, "Updated")
    talk.prompt("good. validate with the zod schema from lib/address.ts, not a second time by hand")
    talk.tool("Edit", {"file_path": "app/checkout/actions.ts", "old_string": "b", "new_string": "c"}, "Updated")
    talk.reply("The server action parses the form with `addressSchema` and returns the fields with the error.")
    kept = history.checkpoint(Talk(talk, ["app/checkout/actions.ts"]))
    history.branch("checkout-address")
    history.commit(
        "2026-03-16 11:00",
        JONAS,
        """
        fix(checkout): keep the address in the server session

        A failed payment reloads the page, and the form's state was gone. Local storage would have kept it, but the
        audit forbids personal data there, so the address lives in the server session for thirty minutes.
        """,
        {"app/checkout/actions.ts": "'use server';\n\nexport async function pay(form: FormData) {}"},
        kept,
    )
    history.merge(
        "2026-03-16 15:45",
        LEA,
        "checkout-address",
        """
        Merge branch 'checkout-address' (#71)

        Tried with a declined card in Safari and Firefox: the address is still there after the error.
        """,
        kept,
    )


def _images(history: History) -> None:
    talk = LEA.claude(NAME, "images", "2026-03-17 13:00")
    talk.prompt("lighthouse says LCP 4.1s on category pages")
    talk.tool("Read", {"file_path": "app/category/grid.tsx"}, "<Image src={p.image} loading='lazy' />")
    talk.reply(
        "All images of the grid are lazy, so the first row waits for the layout. I will set `priority` on every image."
    )
    talk.prompt("only on the first row! priority on everything made it worse last year")
    talk.tool("Edit", {"file_path": "app/category/grid.tsx", "old_string": "a", "new_string": "b"}, "Updated")
    talk.reply("The first four images have `priority`, the others stay lazy. LCP is 1.9 s on the same profile.")
    faster = history.checkpoint(Talk(talk, ["app/category/grid.tsx"]))
    history.commit(
        "2026-03-17 14:10",
        LEA,
        """
        perf(category): load the first row of images with priority

        `loading="lazy"` on the first row delays the largest paint until after layout: 4.1 s instead of 1.9 s on a slow
        phone. Setting priority on every image is no better, because they then compete with the first row.
        """,
        {"app/category/grid.tsx": "export const Grid = () => null;"},
        faster,
    )

"""A real browser, without a window: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
PICTURES = os.environ.get("REFLECT_PICTURES")
"""A folder to keep pictures in; the documents' own were made so."""

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, open. A test run that has none is failed in CI and skipped elsewhere."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def keep(page: Page, name: str, settled_ms: int = 1_500) -> None:
    """Keep a picture of what `page` shows, where pictures are wanted."""
    if PICTURES:
        page.wait_for_timeout(settled_ms)
        page.screenshot(path=f"{PICTURES}/{name}.png")

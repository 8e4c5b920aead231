"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const report = read("report");
  const figures = read("figures");
  const PAGE = 25;

  /** An element; children are elements or text, and text never becomes markup. */
  function make(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "class") made.className = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  /** Text in its own direction; what turns the direction of other text is written out. */
  function foreign(text) {
    const turned = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
    return make("bdi", {}, text.replace(turned, (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));
  }

  /** Text with what stands between backquotes set as code. */
  const coded = (text) => make("span", {}, ...text.split("`").map((part, at) => (at % 2 ? make("code", {}, foreign(part)) : foreign(part))));

  const none = () => make("span", { class: "none" }, "–");
  const badge = (text) => make("span", { class: `badge ${text}` }, text.replace("-", " "));
  const day = (time) => (time ? time.slice(0, 10) : "");
  const count = (name) => (row) => {
    if (row[name] === null) return none();
    return make("span", { class: row[name] ? `count-${name.replace(/s$/, "")}` : "none" }, String(row[name]));
  };
  const number = (name) => (row) => (row[name] === null ? none() : String(row[name]));
  const days = (name) => (row) => {
    if (row[name] === null) return none();
    return row[name] === 0 ? "today" : `${row[name]} d`;
  };

  const most = Math.max(1, ...report.projects.map((row) => row.errors + row.warnings + row.hints));
  function share(row) {
    if (row.pages === null) return none();
    const parts = ["error", "warning", "hint"].map((kind) =>
      make("i", { class: kind, style: `width: ${(100 * row[`${kind}s`]) / most}%` }),
    );
    return make("span", { class: "share", "aria-hidden": "true" }, ...parts);
  }

  const projectLink = (row) => make("button", { type: "button", class: "link", onclick: () => look({ project: row.project }) }, foreign(row.project));
  const codeLink = (row) => make("button", { type: "button", class: "link", onclick: () => look({ code: row.code }) }, row.code);
  const page = (row) =>
    row.path
      ? make("span", {}, foreign(row.line ? `${row.path}:${row.line}` : row.path), row.title ? make("small", {}, foreign(row.title)) : null)
      : make("span", { class: "none" }, "the wiki as a whole");
  const severities = { error: 0, warning: 1, hint: 2 };
  const states = { linted: 0, "last-known": 1, "not-linted": 2, asleep: 3 };

  /** For each table its columns: title, what to show, what to sort by; `filters` are selects over a field. */
  const tables = {
    projects: {
      rows: report.projects,
      search: (row) => `${row.project} ${row.tags} ${row.reason}`,
      filters: { state: "State", tags: "Tags" },
      columns: [
        { title: "Project", show: projectLink, by: (row) => row.project, first: "ascending", nowrap: true },
        { title: "Errors", show: count("errors"), by: (row) => row.errors, number: true },
        { title: "Warnings", show: count("warnings"), by: (row) => row.warnings, number: true },
        { title: "Hints", show: number("hints"), by: (row) => row.hints, number: true },
        { title: "Findings", show: share, by: (row) => (row.errors === null ? null : row.errors + row.warnings + row.hints) },
        { title: "New", show: (row) => (row.appeared === null ? none() : row.appeared ? `+${row.appeared}` : "0"), by: (row) => row.appeared, number: true },
        { title: "Gone", show: (row) => (row.gone === null ? none() : row.gone ? `−${row.gone}` : "0"), by: (row) => row.gone, number: true },
        { title: "Oldest", show: days("oldest_days"), by: (row) => row.oldest_days, number: true },
        { title: "Pages", show: number("pages"), by: (row) => row.pages, number: true },
        {
          title: "Expectations",
          show: (row) => (row.expectations ? `${row.expectations - row.expectations_broken} of ${row.expectations}` : none()),
          by: (row) => (row.expectations ? -row.expectations_broken : null),
          number: true,
        },
        { title: "State", show: (row) => badge(row.state), by: (row) => states[row.state], nowrap: true },
        { title: "Known from", show: (row) => day(row.linted_at) || none(), by: (row) => row.linted_at, nowrap: true },
        { title: "Last night", show: (row) => row.night || none(), by: (row) => row.night, nowrap: true },
      ],
    },
    codes: {
      rows: report.codes,
      search: (row) => `${row.code} ${row.explanation} ${row.fix}`,
      filters: { severity: "Severity" },
      columns: [
        { title: "Check", show: codeLink, by: (row) => row.code, first: "ascending", nowrap: true },
        { title: "Severity", show: (row) => badge(row.severity), by: (row) => severities[row.severity], first: "ascending" },
        { title: "Findings", show: number("findings"), by: (row) => row.findings, number: true },
        { title: "Projects", show: number("projects"), by: (row) => row.projects, number: true },
        { title: "Pages", show: number("pages"), by: (row) => row.pages, number: true },
        { title: "Oldest", show: days("oldest_days"), by: (row) => row.oldest_days, number: true },
        { title: "What it means", show: (row) => make("span", {}, coded(row.explanation), row.fix ? make("small", {}, "--fix: ", coded(row.fix)) : null), by: (row) => row.explanation, first: "ascending" },
      ],
    },
    findings: {
      rows: report.findings,
      search: (row) => `${row.project} ${row.code} ${row.path} ${row.title} ${row.detail}`,
      filters: { project: "Project", severity: "Severity", code: "Check" },
      columns: [
        { title: "Severity", show: (row) => badge(row.severity), by: (row) => severities[row.severity], first: "ascending" },
        { title: "Project", show: (row) => foreign(row.project), by: (row) => row.project, first: "ascending", nowrap: true },
        { title: "Check", show: (row) => row.code, by: (row) => row.code, first: "ascending", nowrap: true },
        { title: "Page", show: page, by: (row) => row.path, first: "ascending" },
        { title: "What", show: (row) => coded(row.detail), by: (row) => row.detail, first: "ascending" },
        { title: "Age", show: days("age_days"), by: (row) => row.age_days, number: true },
        { title: "--fix", show: (row) => (row.fixable ? "mends it" : none()), by: (row) => Number(row.fixable), nowrap: true },
      ],
    },
    expectations: {
      rows: report.expectations,
      search: (row) => `${row.expectation} ${row.expects}`,
      filters: {},
      columns: [
        { title: "Expectation", show: (row) => make("button", { type: "button", class: "link", onclick: () => lookAt("broken", { expectation: row.expectation }) }, row.expectation), by: (row) => row.expectation, first: "ascending", nowrap: true },
        { title: "What is expected", show: (row) => coded(row.expects), by: (row) => row.expects, first: "ascending" },
        { title: "Projects that meet it", show: number("passed"), by: (row) => row.passed, number: true },
        { title: "Projects that do not", show: (row) => make("span", { class: row.broken ? "count-error" : "none" }, String(row.broken)), by: (row) => row.broken, number: true },
        { title: "Pages that break it", show: number("pages"), by: (row) => row.pages, number: true },
      ],
    },
    broken: {
      rows: report.broken,
      search: (row) => `${row.project} ${row.expectation} ${row.path} ${row.reason}`,
      filters: { project: "Project", expectation: "Expectation" },
      columns: [
        { title: "Project", show: (row) => foreign(row.project), by: (row) => row.project, first: "ascending", nowrap: true },
        { title: "Expectation", show: (row) => row.expectation, by: (row) => row.expectation, first: "ascending", nowrap: true },
        { title: "Page", show: (row) => foreign(row.path), by: (row) => row.path, first: "ascending" },
        { title: "Why", show: (row) => foreign(row.reason), by: (row) => row.reason, first: "ascending" },
      ],
    },
  };

  const collator = new Intl.Collator("en", { numeric: true });
  const drawn = {};

  /** What is not known comes last, whichever way a table is sorted. */
  function compared(one, other, descending) {
    if (one === null || one === "") return other === null || other === "" ? 0 : 1;
    if (other === null || other === "") return -1;
    const order = typeof one === "number" ? one - other : collator.compare(one, other);
    return descending ? -order : order;
  }

  class Table {
    constructor(place, told) {
      this.told = told;
      this.id = place.id;
      this.sort = null;
      this.at = 0;
      this.every = false;
      this.chosen = {};
      this.words = "";
      this.body = make("tbody");
      this.status = make("output", { "aria-live": "polite" });
      this.selects = {};
      this.heads = told.columns.map((column, index) => this.head(column, index));
      const label = place.querySelector("h2").textContent;
      this.pager = make("div", { class: "pager" });
      const table = make("table", { "aria-labelledby": `${place.id}-title` }, make("thead", {}, make("tr", {}, ...this.heads)), this.body);
      place.append(this.tools(label), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table), this.pager);
      this.draw();
    }

    head(column, index) {
      const button = make("button", { type: "button", onclick: () => this.sortBy(index) }, column.title);
      return make("th", { scope: "col", class: column.number ? "number-cell" : "", "aria-sort": "none" }, button);
    }

    tools(label) {
      this.input = make("input", { type: "search", placeholder: "Filter…", "aria-label": `Filter ${label}`, oninput: () => this.choose(() => (this.words = this.input.value.toLowerCase())) });
      const selects = Object.entries(this.told.filters).flatMap(([field, title]) => this.select(field, title));
      return make("div", { class: "tools" }, this.input, ...selects, this.status);
    }

    select(field, title) {
      const values = [...new Set(this.told.rows.map((row) => row[field]))].filter(Boolean).sort(collator.compare);
      if (values.length < 2) return [];
      const options = values.map((value) => make("option", { value }, value));
      const made = make("select", { onchange: () => this.choose(() => (this.chosen[field] = made.value)) }, make("option", { value: "" }, "all"), ...options);
      this.selects[field] = made;
      return [make("label", {}, title, made)];
    }

    choose(change) {
      change();
      this.at = 0;
      this.draw();
    }

    only(values) {
      this.words = this.input.value = "";
      this.chosen = { ...values };
      for (const [field, made] of Object.entries(this.selects)) made.value = values[field] || "";
      this.choose(() => {});
    }

    sortBy(index) {
      const first = this.told.columns[index].first || "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const direction = this.sort && this.sort.index === index && this.sort.direction === first ? other : first;
      this.sort = { index, direction };
      this.heads.forEach((head, at) => head.setAttribute("aria-sort", at === index ? direction : "none"));
      this.choose(() => {});
    }

    rows() {
      const chosen = Object.entries(this.chosen).filter(([, value]) => value);
      const found = this.told.rows.filter(
        (row) => chosen.every(([field, value]) => row[field] === value) && (!this.words || this.told.search(row).toLowerCase().includes(this.words)),
      );
      if (!this.sort) return found;
      const { by } = this.told.columns[this.sort.index];
      const descending = this.sort.direction === "descending";
      return found.sort((one, other) => compared(by(one), by(other), descending));
    }

    draw() {
      const rows = this.rows();
      const shown = this.every ? rows : rows.slice(this.at, this.at + PAGE);
      this.body.replaceChildren(...shown.map((row) => this.row(row)));
      if (!rows.length) {
        const said = this.told.rows.length ? "Nothing here matches." : "Nothing to show.";
        this.body.append(make("tr", {}, make("td", { class: "nothing", colspan: this.heads.length }, said)));
      }
      const all = this.told.rows.length;
      this.status.textContent = rows.length === all ? `${all} in all` : `${rows.length} of ${all}`;
      this.turn(rows.length);
    }

    row(row) {
      const cells = this.told.columns.map((column) =>
        make("td", { class: column.number ? "number-cell" : column.nowrap ? "nowrap" : "" }, column.show(row)),
      );
      return make("tr", {}, ...cells);
    }

    turn(length) {
      const go = (to) => () => {
        this.at = to;
        this.draw();
      };
      if (length <= PAGE || this.every) return this.pager.replaceChildren();
      const last = Math.min(this.at + PAGE, length);
      this.pager.replaceChildren(
        make("button", { type: "button", class: "quiet", disabled: this.at === 0, onclick: go(this.at - PAGE) }, "Previous"),
        make("span", {}, `${this.at + 1}–${last} of ${length}`),
        make("button", { type: "button", class: "quiet", disabled: last === length, onclick: go(this.at + PAGE) }, "Next"),
      );
    }
  }

  function lookAt(table, values) {
    drawn[table].only(values);
    const title = document.getElementById(`${table}-title`);
    title.setAttribute("tabindex", "-1");
    title.focus({ preventScroll: true });
    document.getElementById(table).scrollIntoView();
  }
  const look = (values) => lookAt("findings", values);

  const root = document.documentElement;
  const themeButton = document.getElementById("theme");
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const remembered = { get: () => null, set: () => {} };
  try {
    const store = window.localStorage;
    remembered.get = () => store.getItem("reflect-theme");
    remembered.set = (theme) => store.setItem("reflect-theme", theme);
  } catch {
    // A browser may keep nothing for files; the choice then lasts as long as the page.
  }
  function showTheme() {
    themeButton.setAttribute("aria-pressed", String(isDark()));
    themeButton.textContent = isDark() ? "Light theme" : "Dark theme";
  }
  const kept = remembered.get();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remembered.set(root.dataset.theme);
    showTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  showTheme();

  for (const place of document.querySelectorAll("[data-table]")) drawn[place.id] = new Table(place, tables[place.dataset.table]);
  window.addEventListener("beforeprint", () => Object.values(drawn).forEach((table) => ((table.every = table.told.rows.length <= 500), table.draw())));
  window.addEventListener("afterprint", () => Object.values(drawn).forEach((table) => ((table.every = false), table.draw())));

  const options = { ast: true, renderer: "svg", actions: false, tooltip: { theme: "custom" } };
  const charts = figures.map(({ id, spec }) => vegaEmbed(`#chart-${id}`, spec, options));
  Promise.all(charts).then(
    () => (root.dataset.ready = "yes"),
    (error) => {
      root.dataset.ready = "failed";
      console.error(error);
    },
  );
})();

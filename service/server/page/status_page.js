
// The page itself. What comes from the sidecar is put into the document as text only.

const REFRESH_MILLISECONDS = 2000;
const TIMEOUT_MILLISECONDS = 10000;
const RATE_SECONDS = 10;     // rates are those of this time, or since the last refresh
const ROWS = 100;            // on one page of the table
const MAX_REQUESTS = 1000;   // of one refresh; the API may return few containers at a time

const find = (id) => document.getElementById(id);

// What was read last, and what the reader has chosen.
const data = {sidecar: undefined, containers: [], reconciliation: undefined, complete: false, cut: false};
const samples = new Map();  // of container: its samples that rates are of, oldest first
const view = {sort: "oldest", descending: true, first: 0, open: undefined, stuck: undefined,
  held: undefined, forecast: undefined, problems: {}};
let readAt;                 // when the data were asked for, by performance.now()
let startTime;              // of the sidecar's process
let timer;
let refreshing = false;
let isPaused = false;

// --- The document ---

// An element with attributes and children, texts or elements.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Text that may run from right to left.
function isolated(text) {
  return make("bdi", {}, text);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const builtFrom = new WeakMap();

// Builds the children of `element` again only if what they show has changed, so that a reader's
// selection and focus stay.
function rebuild(element, shown, build) {
  const key = JSON.stringify(shown);
  if (builtFrom.get(element) === key) return;
  builtFrom.set(element, key);
  element.replaceChildren(...build());
}

function facts(list) {
  return list.flatMap(([name, value]) =>
      [make("dt", {}, name), make("dd", {}, ...(Array.isArray(value) ? value : [value]))]);
}

function holdItem({text, commands = [], note}) {
  const item = make("li", {}, make("strong", {}, text), ".");
  if (note) item.append(" ", isolated(note.endsWith(".") ? note : `${note}.`));
  for (const [purpose, command] of commands) {
    item.append(` ${purpose}: `, make("code", {}, command));
  }
  return item;
}

function announce(text) {
  setText(find("announcement"), text);
}

// --- Health and the sidecar ---

function showHealth(sidecar) {
  const healthy = sidecar.health.state === "HEALTH_STATE_HEALTHY";
  const state = find("health-state");
  const text = healthy ? "Healthy" : "Degraded";
  if (state.textContent !== text) announce(`Health: ${text}`);
  setText(state, text);
  state.className = `badge ${healthy ? "good" : "bad"}`;
  const reasons = find("health-reasons");
  reasons.hidden = sidecar.health.reasons.length === 0;
  rebuild(reasons, sidecar.health.reasons,
      () => sidecar.health.reasons.map((reason) => make("li", {}, isolated(shownText(reason)))));
  const holds = holdsOfAll(sidecar);
  find("holds-of-all").hidden = holds.length === 0;
  const described = holds.map((hold) => describeHold(hold, {}, sidecar));
  rebuild(find("holds-of-all-list"), described, () => described.map(holdItem));
}

function clockText(clock) {
  const sound = clock.state === "CLOCK_STATE_SOUND";
  const text = `${sound ? "sound" : "SUSPECT"}, now ${timeText(clock.now)}`;
  return sound || clock.reason === "" ? text : `${text}; ${shownText(clock.reason)}`;
}

function storeText(store, now) {
  if (store.store_id === "" && store.last_error === "" && store.last_success_time === undefined) {
    return "no call yet, or no store configured";
  }
  const parts = [store.reachable ? "reachable" : "NOT REACHABLE"];
  if (store.store_id !== "") parts.push(`id ${shownText(store.store_id)}`);
  if (store.last_success_time !== undefined) {
    parts.push(`last answer ${spanText(secondsBetween(store.last_success_time, now))} ago`);
  }
  if (store.clock_skew !== undefined) {
    parts.push(`clock skew (sidecar minus store) ${signedSpanText(seconds(store.clock_skew))}`);
  }
  if (store.held_until !== undefined) parts.push(`no calls until ${timeText(store.held_until)}`);
  if (store.last_error !== "") parts.push(`last error: ${shownText(store.last_error)}`);
  return parts.join(", ");
}

function secondsBetween(earlier, later) {
  return Math.max(0, (Date.parse(later) - Date.parse(earlier)) / 1000);
}

function sweepText(sweep, now) {
  const step = sweep.last_step_time === undefined ? "no step yet" :
      `last step ${spanText(secondsBetween(sweep.last_step_time, now))} ago`;
  return `${sweep.stalled ? "STALLED, " : ""}${step}, ` +
      `${plural(sweep.calls_under_way, "call", "calls")} to the store in flight`;
}

function showSidecar(sidecar) {
  const now = sidecar.clock.now;
  const limit = sidecar.max_deletes_per_second;
  const list = [
    ["up", `${spanText(secondsBetween(sidecar.start_time, now))}, since ` +
        timeText(sidecar.start_time)],
    ["clock", clockText(sidecar.clock)],
    ["store", storeText(sidecar.store, now)],
    ["storage", sidecar.storage_writable ? "writable" :
        `NOT WRITABLE: ${shownText(sidecar.storage_problem)}`],
    ["limit", `${limit === undefined ? "no limit" : rateText(limit)} over all containers`],
    ["sweep", sweepText(sidecar.sweep, now)],
    ["data", sidecar.data.in_doubt ? `IN DOUBT: ${shownText(sidecar.data.reason)}` : "trusted"],
  ];
  if (sidecar.impossible_checks !== "0") {
    list.push(["checks",
      `${countText(sidecar.impossible_checks)} carried an impossible ts or ttl`]);
  }
  rebuild(find("sidecar-facts"), list,
      () => facts(list.map(([name, text]) => [name, isolated(text)])));
}

const RECONCILIATION_STATES = {
  RECONCILIATION_STATE_RUNNING: "running",
  RECONCILIATION_STATE_WAITING: "waiting to retry",
  RECONCILIATION_STATE_DONE: "done",
  RECONCILIATION_STATE_FAILED: "failed",
  RECONCILIATION_STATE_CANCELLED: "cancelled",
};

function reconciliationFacts(it) {
  const list = [
    ["containers", `${countText(it.containers_done)} of ${countText(it.containers_total)}`],
    ["items of the store", countText(it.counts?.scanned ?? 0)],
  ];
  for (const name of ["same", "missing", "differing", "newer", "invalid", "extra"]) {
    const count = it.counts?.[name] ?? "0";
    if (count !== "0") list.push([name, countText(count)]);
  }
  if (it.current_container !== "" && it.end_time === undefined) {
    const of = it.current_estimated_items === undefined ? "" :
        ` of about ${countText(it.current_estimated_items)}`;
    list.push(["now", `${shownText(it.current_container)}, ` +
        `${countText(it.current_items)}${of} items`]);
  }
  if (it.problem !== "") list.push(["problem", shownText(it.problem)]);
  return list;
}

function showRebuild(it) {
  find("rebuild").hidden = it === undefined;
  if (it === undefined) return;
  setText(find("rebuild-title"),
      it.rebuild ? "Rebuild from the store" : "Reconciliation");
  const share = it.state === "RECONCILIATION_STATE_DONE" ? 1 : doneShare(it);
  const state = RECONCILIATION_STATES[it.state] ?? shownText(it.state);
  setText(find("rebuild-state"), `${state}${it.dry_run ? ", dry run" : ""}, ` +
      `${Math.floor(share * 100)} %, since ${timeText(it.start_time)}`);
  find("rebuild-progress").value = share;
  const list = reconciliationFacts(it);
  rebuild(find("rebuild-facts"), list,
      () => facts(list.map(([name, text]) => [name, isolated(text)])));
}

// --- The table of containers ---

const ageOf = (status) => seconds(status.oldest_due_age) ?? -1;

function ratesOf(status) {
  const known = samples.get(status.container);
  return known === undefined ? undefined : ratesBetween(known[0], known[known.length - 1]);
}

function aboutText(status, count) {
  return (status.items.error_bound_items === "0" ? "" : "about ") + countText(count);
}

function backlogText(status) {
  return (status.backlog_is_lower_bound ? "at least " : "") + countText(status.backlog);
}

function oldestText(status) {
  const age = ageOf(status);
  if (age < 0) return status.backlog_problem === "" ? "-" : "not known";
  return spanText(age) + (age > LATE_SECONDS ? ", late" : "");
}

function sentText(status) {
  const rates = ratesOf(status);
  return rates === undefined ? "measuring" : rateText(rates.sent);
}

// The columns after the name: how they are headed, sorted and shown.
const COLUMNS = [
  {name: "live", title: "Live", key: (status) => Number(status.items.live_items),
    text: (status) => aboutText(status, status.items.live_items)},
  {name: "expired", title: "Expired", key: (status) => Number(status.items.expired_items),
    text: (status) => aboutText(status, status.items.expired_items)},
  {name: "backlog", title: "Backlog", key: (status) => Number(status.backlog), text: backlogText},
  {name: "oldest", title: "Oldest due", key: ageOf, text: oldestText},
  {name: "allowed", title: "Allowed",
    key: (status) => status.allowed_deletes_per_second ?? Infinity, text: allowedText},
  {name: "sent", title: "Sent", key: (status) => ratesOf(status)?.sent ?? -1, text: sentText},
  {name: "catch-up", title: "Time to catch up",
    key: (status) => catchUpSeconds(status, ratesOf(status)) ?? -1,
    text: (status) => catchUpText(status, ratesOf(status))},
  {name: "stuck", title: "Stuck", key: (status) => Number(status.failing_items),
    text: (status) => countText(status.failing_items)},
  {name: "holds", title: "Holds", key: (status) => status.holds.length,
    text: (status) => holdsText(status.holds), isText: true},
];
const NAME = {name: "container", title: "Container", key: (status) => status.container};

const SHOWN = {
  all: () => true,
  backlog: (status) => status.backlog !== "0",
  late: (status) => ageOf(status) > LATE_SECONDS,
  held: (status) => status.holds.length > 0,
  stuck: (status) => status.failing_items !== "0",
};

function chosenContainers() {
  const part = find("filter").value.toLowerCase();
  const wanted = SHOWN[find("show").value];
  const column = [NAME, ...COLUMNS].find(({name}) => name === view.sort);
  const keyed = data.containers
      .filter((status) => wanted(status) && status.container.toLowerCase().includes(part))
      .map((status) => ({status, key: column.key(status)}));
  const sign = view.descending ? -1 : 1;
  keyed.sort((a, b) => a.key < b.key ? -sign : a.key > b.key ? sign : 0);
  return keyed.map(({status}) => status);
}

// A bar for an age, with a line at 15 minutes.
function makeAgeBar() {
  return makeSvg("svg", {class: "age", viewBox: "0 0 100 10", preserveAspectRatio: "none",
    "aria-hidden": "true"},
      makeSvg("rect", {class: "track", width: 100, height: 10}),
      makeSvg("rect", {class: "bar", width: 0, height: 10}),
      makeSvg("line", {class: "mark", x1: 100 * MARK, x2: 100 * MARK, y1: 0, y2: 10}));
}

function setAgeBar(svg, age) {
  svg.toggleAttribute("hidden", age < 0);
  const bar = svg.querySelector(".bar");
  bar.setAttribute("width", (100 * ageShare(Math.max(age, 0))).toFixed(1));
  bar.classList.toggle("late", age > LATE_SECONDS);
}

const rows = new Map();  // of container: the elements of its row

function makeRow(container) {
  const button = make("button", {type: "button", "aria-expanded": "false"},
      isolated(shownText(container)));
  button.addEventListener("click", () => toggle(container));
  const element = make("tr", {role: "row"}, make("th", {scope: "row", role: "rowheader"}, button));
  const cells = COLUMNS.map(({name, title, isText}) => {
    const value = make("span", {});
    const box = make("span", {}, value);
    if (name === "oldest") box.append(makeAgeBar());
    element.append(make("td", {role: "cell", "data-label": title, "data-column": name,
      class: isText ? "" : "number"}, box));
    return value;
  });
  return {element, button, cells};
}

function rowOf(status) {
  let row = rows.get(status.container);
  if (row === undefined) rows.set(status.container, row = makeRow(status.container));
  COLUMNS.forEach(({name, text}, i) => {
    setText(row.cells[i], text(status));
    if (name !== "oldest") return;
    setAgeBar(row.cells[i].nextSibling, ageOf(status));
    row.cells[i].classList.toggle("late", ageOf(status) > LATE_SECONDS);
  });
  row.button.setAttribute("aria-expanded", String(view.open === status.container));
  return row.element;
}

// Replaces the rows only if others are to be seen, or in another order.
function showRows(elements) {
  const body = find("rows");
  const seen = body.children;
  const isSame = elements.length === seen.length && elements.every((one, i) => one === seen[i]);
  if (isSame) return;
  const focused = document.activeElement;
  body.replaceChildren(...elements);
  if (focused !== document.activeElement && body.contains(focused)) {
    focused.focus({preventScroll: true});
  }
}

function showContainers() {
  const chosen = chosenContainers();
  view.first = Math.min(view.first, Math.max(0, Math.floor((chosen.length - 1) / ROWS) * ROWS));
  const page = chosen.slice(view.first, view.first + ROWS);
  const elements = page.flatMap((status) => view.open === status.container ?
      [rowOf(status), detailOf(status)] : [rowOf(status)]);
  showRows(elements);
  const seen = new Set(page.map(({container}) => container));
  for (const container of rows.keys()) if (!seen.has(container)) rows.delete(container);
  showCount(chosen.length, page.length);
  showSorting();
}

function showCount(chosen, onPage) {
  const range = chosen > onPage ?
      `${countText(view.first + 1)} to ${countText(view.first + onPage)} of ` : "";
  const all = data.containers.length;
  const of = chosen < all ? ` of ${countText(all)}` : "";
  setText(find("shown"), all === 0 ? (data.complete ? "no containers" : "") :
      `${range}${plural(chosen, "container", "containers")}${of}` +
      (data.cut ? `; others are left out: a refresh ends after ${countText(MAX_REQUESTS)} ` +
          "requests, ttlctl status shows all" : data.complete ? "" : "; loading more"));
  find("pages").hidden = chosen <= ROWS;
  find("previous").disabled = view.first === 0;
  find("next").disabled = view.first + ROWS >= chosen;
}

function showSorting() {
  for (const header of find("headers").children) {
    const sorted = header.dataset.column === view.sort;
    const order = view.descending ? "descending" : "ascending";
    if (sorted) header.setAttribute("aria-sort", order);
    else header.removeAttribute("aria-sort");
  }
  find("sort").value = view.sort;
}

function sortBy(name, descending) {
  view.sort = name;
  view.descending = descending;
  view.first = 0;
  showContainers();
}

function toggle(container) {
  view.open = view.open === container ? undefined : container;
  view.stuck = undefined;
  view.held = undefined;
  view.forecast = undefined;
  view.problems = {};
  showContainers();
  refreshDetail();
}

// --- The details of one container ---

const detail = make("tr", {role: "row", class: "detail"});

function budgetText(budget) {
  const used = budget.used_by_requests === undefined ?
      "NO REPORT OF USAGE for 10 s, which counts as full use" :
      `requests use ${measuredText(budget.used_by_requests)}`;
  return `${measuredText(budget.request_units_per_second)} request units/s, ${used}; leaves ` +
      `${measuredText(budget.deletes_per_second)}/s for deletes, at ` +
      `${measuredText(budget.request_units_per_delete)} request units each`;
}

function itemsText(items) {
  const bound = items.error_bound_items;
  return `${countText(items.tracked_items)} tracked` +
      (bound === "0" ? "" : `; live and expired are off by ${countText(bound)} at most`) +
      (items.complete ? "" : "; items are still being counted after the start");
}

function forecastText(hours) {
  return `${countText(hours[0] ?? 0)} within the hour, ` +
      `${sumText(hours)} within ${hours.length} hours`;
}

function indexText(progress) {
  switch (progress?.state) {
    case "INDEX_STATE_READY": return "ready";
    case "INDEX_STATE_NONE": return "none";
    case "INDEX_STATE_BUILDING":
      return `being built, ${progress.percent} %, ${countText(progress.items_indexed)} items`;
    default: return "state unknown";
  }
}

function detailFacts(status) {
  const list = [];
  if (status.backlog_problem !== "") {
    list.push(["backlog", `${backlogText(status)}; the expiry index cannot be read: ` +
        shownText(status.backlog_problem)]);
  }
  list.push(
    ["items", itemsText(status.items)],
    ["will expire", forecastText(status.items.expiring_per_hour ?? [])]);
  if (status.budget !== undefined) list.push(["budget", budgetText(status.budget)]);
  if (status.push_back_deletes_per_second !== undefined) {
    list.push(["push-back",
      `the store accepts ${rateText(status.push_back_deletes_per_second)} now`]);
  }
  list.push(["deletes", tallyText(status.deletes)]);
  for (const {reason, count} of status.failures) {
    list.push(["failures", `${countText(count)}: ${shownText(reason || "other reasons")}`]);
  }
  list.push(["caught up", status.last_complete_pass_time === undefined ?
      "not since the start" : timeText(status.last_complete_pass_time)]);
  list.push(["index", indexText(status.index_progress)]);
  if (status.feed !== undefined) {
    const now = data.sidecar.clock.now;
    list.push(["feed", feedText(status.feed, now)]);
    for (const subscription of status.feed.subscriptions) {
      list.push(["subscription", subscriptionText(subscription, now)]);
    }
  }
  return list;
}

function latenessRow({at_most: atMost, count}, greatest) {
  const bound = atMost === undefined ? "later" : `within ${spanText(seconds(atMost))}`;
  const late = atMost === undefined || seconds(atMost) > LATE_SECONDS;
  const isLine = seconds(atMost) === LATE_SECONDS;
  return make("tr", isLine ? {class: "line"} : {}, make("th", {scope: "row", class: "time"}, bound),
      make("td", {class: "number"}, countText(count)),
      make("td", {}, makeSvg("svg", {class: "share", viewBox: "0 0 100 10",
        preserveAspectRatio: "none", "aria-hidden": "true"},
          makeSvg("rect", {class: late ? "bar late" : "bar", height: 10,
            width: greatest === 0 ? 0 : (100 * Number(count) / greatest).toFixed(1)}))));
}

function latenessBlock({buckets}) {
  const greatest = Math.max(...buckets.map(({count}) => Number(count)));
  if (greatest === 0) return [make("p", {class: "muted"}, "No delete since the start.")];
  return [make("table", {},
      make("caption", {class: "unseen"}, "Deletes by the time since the items became due"),
      make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "Deleted"),
          make("th", {scope: "col", class: "number"}, "Deletes"),
          make("th", {scope: "col"}, "Share"))),
      make("tbody", {}, ...buckets.map((bucket) => latenessRow(bucket, greatest)))),
    make("p", {class: "muted"}, "The line is at 15 minutes.")];
}

const STUCK_TITLES = ["Item", "Attempts", "Next try", "The store's reason"];

function stuckRow(item) {
  const key = itemText(bytesOfBase64(item.partition_key), bytesOfBase64(item.id));
  const texts =
      [countText(item.attempts), unixTimeText(item.next_try_time), shownText(item.last_error)];
  return make("tr", {role: "row"}, make("th", {scope: "row", role: "rowheader"}, isolated(key)),
      ...texts.map((text, i) => make("td", {role: "cell", "data-label": STUCK_TITLES[i + 1],
        class: ["number", "time", ""][i]}, isolated(text))));
}

function stuckTable(items) {
  const heads = STUCK_TITLES.map((title, i) => make("th", {scope: "col", role: "columnheader",
    class: i === 1 ? "number" : ""}, title));
  return make("table", {class: "cards", role: "table"},
      make("caption", {class: "unseen"}, "Stuck items"),
      make("thead", {role: "rowgroup"}, make("tr", {role: "row"}, ...heads)),
      make("tbody", {role: "rowgroup"}, ...items.map(stuckRow)));
}

function cannotBeRead(what, problem) {
  return make("p", {class: "bad note"}, `${what} cannot be read: `, isolated(problem), ".");
}

function stuckBlock(status) {
  if (view.problems.stuck !== undefined) return [cannotBeRead("They", view.problems.stuck)];
  if (status.failing_items === "0") return [make("p", {class: "muted"}, "None.")];
  if (view.stuck === undefined) return [make("p", {class: "muted"}, "Loading.")];
  const more = Number(status.failing_items) > view.stuck.length ?
      [make("p", {}, `The first ${view.stuck.length} of ${countText(status.failing_items)}. All: `,
          make("code", {}, `ttlctl stuck --limit 0 ${idArguments(status.container)}`))] : [];
  return [stuckTable(view.stuck), ...more];
}

// --- Holds on items ---

const HELD_TITLES = ["Hold", "Covers", "Until", "Reason", "Author", "To release it"];

function heldRow(hold) {
  const texts = [coverText(hold), untilText(hold), shownText(hold.reason), shownText(hold.author)];
  return make("tr", {role: "row"},
      make("th", {scope: "row", role: "rowheader"}, isolated(shownText(hold.hold_id))),
      ...texts.map((text, i) => make("td", {role: "cell", "data-label": HELD_TITLES[i + 1],
        class: ["", "time", "", ""][i]}, isolated(text))),
      make("td", {role: "cell", "data-label": HELD_TITLES[5]},
          make("code", {}, releaseCommand(hold))));
}

function heldTable(holds) {
  const heads = HELD_TITLES.map((title) =>
      make("th", {scope: "col", role: "columnheader"}, title));
  return make("table", {class: "cards", role: "table"},
      make("caption", {class: "unseen"}, "Holds on items"),
      make("thead", {role: "rowgroup"}, make("tr", {role: "row"}, ...heads)),
      make("tbody", {role: "rowgroup"}, ...holds.map(heldRow)));
}

function heldBlock(status) {
  if (view.problems.held !== undefined) return [cannotBeRead("They", view.problems.held)];
  if (status.hold_counts === undefined) return [make("p", {class: "muted"}, "None.")];
  const counts = make("p", {}, `${holdCountsText(status.hold_counts)}.`);
  if (view.held === undefined) return [counts, make("p", {class: "muted"}, "Loading.")];
  if (view.held.length === 0) return [counts];
  const more = Number(status.hold_counts.holds) > view.held.length ?
      [make("p", {}, `The first ${view.held.length}. All: `,
          make("code", {}, `ttlctl holds list ${idArguments(status.container)}`))] : [];
  return [counts, heldTable(view.held), ...more];
}

// The parts of the row of details, each built again when its own data change.
const parts = {
  holds: make("ul", {class: "holds"}),
  facts: make("dl", {class: "facts"}),
  lateness: make("div", {}),
  held: make("div", {}),
  stuck: make("div", {}),
};
detail.append(make("td", {role: "cell", colspan: COLUMNS.length + 1},
    make("h3", {}, "Holds"), parts.holds,
    make("div", {class: "columns"},
        make("div", {}, make("h3", {}, "Figures"), parts.facts),
        make("div", {}, make("h3", {}, "Lateness of deletes"), parts.lateness)),
    forecastBlock,
    make("h3", {}, "Holds on items"), parts.held,
    make("h3", {}, "Stuck items"), parts.stuck));

function detailOf(status) {
  const described = status.holds.map((hold) => describeHold(hold, status, data.sidecar));
  rebuild(parts.holds, described,
      () => described.length === 0 ? [make("li", {}, "None.")] : described.map(holdItem));
  const list = detailFacts(status);
  rebuild(parts.facts, list, () => facts(list.map(([name, text]) => [name, isolated(text)])));
  rebuild(parts.lateness, status.lateness, () => latenessBlock(status.lateness));
  rebuild(parts.held, [status.container, status.hold_counts, view.held, view.problems.held],
      () => heldBlock(status));
  rebuild(parts.stuck, [status.container, status.failing_items, view.stuck, view.problems.stuck],
      () => stuckBlock(status));
  showForecast(view.forecast?.answer, view.problems.forecast);
  return detail;
}

// --- One item ---

function explainFacts(answer) {
  const item = answer.item;
  const list = [["state", item.expired ? "expired" : "live"]];
  list.push(["expires", item.expire_time === undefined ? "never" : unixTimeText(item.expire_time)]);
  list.push(["may be deleted",
    answer.due_time === undefined ? "never" : `from ${unixTimeText(answer.due_time)}`]);
  list.push(["written", unixTimeText(item.item.ts)]);
  const {ttl, expire_at: expireAt} = item.item;
  if (ttl !== undefined) list.push(["own ttl", `${ttl} s`]);
  if (expireAt !== undefined) list.push(["expire_at", unixTimeText(expireAt)]);
  if (item.effective_ttl !== undefined) list.push(["effective ttl", `${item.effective_ttl} s`]);
  if (answer.expired_sequence !== "0") {
    list.push(["announced in the feed", `by event ${answer.expired_sequence}`]);
  }
  if (answer.waiting_for.length > 0) {
    list.push(["waits for", answer.waiting_for.map(shownText).join(", ")]);
  }
  list.push(["attempts", countText(answer.attempts)]);
  if (answer.last_error !== "") list.push(["last error", shownText(answer.last_error)]);
  list.push(["judged at", timeText(answer.judged_at)]);
  return list;
}

function showExplanation(answer, container) {
  const status = data.containers.find((one) => one.container === container) ?? {container};
  const holds = answer.holds.map((hold) => describeHold(hold, status, data.sidecar));
  const held = answer.item_holds.length === 0 ? [] : [heldTable(answer.item_holds)];
  const list = explainFacts(answer).map(([name, text]) => [name, isolated(text)]);
  find("explanation").replaceChildren(
      make("p", {}, make("strong", {}, isolated(shownText(answer.explanation)))),
      make("ul", {class: "holds"}, ...holds.map(holdItem)),
      ...held,
      make("dl", {class: "facts"}, ...facts(list)));
}

function showExplainError(error) {
  find("explanation").replaceChildren(
      make("p", {class: "bad note"}, isolated(shownText(error.message))));
}

let explained = 0;  // the number of the last question

// An answer that comes after a later question is dropped.
async function explain() {
  const number = ++explained;
  const container = find("explain-container").value;
  try {
    const partition = encodedKey(find("explain-partition").value);
    const id = encodedKey(find("explain-id").value);
    const answer = await read(`/explain.json?container=${encodeURIComponent(container)}` +
        `&partition_key=${partition}&id=${id}`);
    if (number === explained) showExplanation(answer, container);
  } catch (error) {
    if (number === explained) showExplainError(error);
  }
}

// --- Reading ---

const REFUSAL = "RefusalError";  // the name of an error that the sidecar answered with

async function read(target) {
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  const response = await fetch(target, {cache: "no-store", signal});
  if (response.ok) return response.json();
  const error = new Error((await response.text()).trim());
  error.name = REFUSAL;
  throw error;
}

// Reads the statuses of all containers; shows them as they come if there are none yet.
async function readStatuses() {
  const containers = [];
  let token = "";
  for (let i = 0; i < MAX_REQUESTS; ++i) {
    const query = token === "" ? "" : `?page_token=${encodeURIComponent(token)}`;
    const answer = await read(`/status.json${query}`);
    containers.push(...answer.containers);
    token = answer.next_page_token;
    data.sidecar = answer.sidecar;
    if (token === "" || !data.complete) data.containers = containers;
    if (token === "") break;
    if (!data.complete) showAll();
  }
  data.complete = true;
  data.cut = token !== "";
  data.containers = containers;
}

// Those of the last RATE_SECONDS, and at least the last one: a refresh may take longer.
function recentSamples(known, at) {
  const recent = known.filter((one) => at - one.at <= RATE_SECONDS);
  return recent.length > 0 ? recent : known.slice(-1);
}

// Keeps what rates are computed from.
function takeSamples() {
  const {clock, start_time: start} = data.sidecar;
  const at = Date.parse(clock.steady ?? clock.now) / 1000;
  if (start !== startTime) samples.clear();
  startTime = start;
  const old = new Map(samples);
  samples.clear();
  for (const {container, deletes} of data.containers) {
    const cleared = Number(deletes.deleted) + Number(deletes.not_found) + Number(deletes.modified);
    const known = recentSamples(old.get(container) ?? [], at);
    samples.set(container, [...known, {at, sent: Number(deletes.sent), cleared}]);
  }
}

// Reads what only the details of the open container show. What fails is said there, and is no
// trouble of the sidecar.
async function refreshDetail() {
  const container = view.open;
  if (container === undefined) return;
  const range = forecastParts.range.value;
  const problems = {};
  const readOr = (name, path) =>
      read(path).catch((error) => { problems[name] = whyNot(error); });
  const [stuck, held, answer] = await Promise.all([
    readOr("stuck", `/stuck.json?container=${encodeURIComponent(container)}`),
    readOr("held", `/holds.json?container=${encodeURIComponent(container)}`),
    readOr("forecast", `/forecast.json?${forecastQuery(container, range)}`)]);
  if (view.open !== container || forecastParts.range.value !== range) return;
  view.stuck = stuck?.items;
  view.held = held?.holds;
  view.forecast = answer === undefined ? undefined : {range, answer};
  view.problems = problems;
  showContainers();
}

async function chooseRange() {
  await refreshDetail();
  if (view.forecast === undefined) return;
  const {range, answer} = view.forecast;
  announce(`For the next ${range}: ${itemsInAllText(answer)}`);
}

function showAll() {
  showHealth(data.sidecar);
  showRebuild(data.reconciliation);
  showSidecar(data.sidecar);
  showContainers();
}

function ageText() {
  return readAt === undefined ? "" : spanText(Math.floor((performance.now() - readAt) / 1000));
}

function showFreshness() {
  if (readAt === undefined) return;
  setText(find("freshness"), `Last update ${ageText()} ago${isPaused ? "; updates paused" : ""}.`);
}

function showTrouble(error) {
  const trouble = find("trouble");
  trouble.hidden = error === undefined;
  if (error === undefined) return setText(trouble, "");
  const what = error.name === REFUSAL ? "answers with an error" : "does not answer";
  setText(trouble, `The sidecar ${what}: ${whyNot(error)}. ` +
      (readAt === undefined ? "No data has been received." : "The data shown is out of date."));
  setText(find("health-state"), "Unknown");
  find("health-state").className = "badge warn";
}

// Why a read failed. Browsers do not say why they cannot connect.
function whyNot(error) {
  if (error.name === "TimeoutError") return `no answer within ${TIMEOUT_MILLISECONDS / 1000} s`;
  return error.name === "TypeError" ? "it cannot be reached" : shownText(error.message);
}

async function refresh() {
  if (refreshing) return;
  refreshing = true;
  clearTimeout(timer);
  const begun = performance.now();
  try {
    await readStatuses();
    data.reconciliation = (await read("/reconciliation.json")).reconciliation;
    readAt = begun;
    takeSamples();
    if (!data.containers.some(({container}) => container === view.open)) view.open = undefined;
    await refreshDetail();
    showAll();
    showTrouble(undefined);
  } catch (error) {
    showTrouble(error);
  }
  showFreshness();
  refreshing = false;
  scheduleRefresh(performance.now() - begun);
}

// At most a fifth of the time is spent on refreshes, however many containers there are.
function scheduleRefresh(took) {
  clearTimeout(timer);
  if (isPaused || document.hidden) return;
  timer = setTimeout(refresh, Math.max(REFRESH_MILLISECONDS, 4 * took));
}

// --- Start ---

function makeHeaders() {
  for (const {name, title, isText} of [NAME, ...COLUMNS]) {
    const button = make("button", {type: "button"}, title);
    button.addEventListener("click",
        () => sortBy(name, view.sort === name ? !view.descending : name !== "container"));
    const isNumber = name !== "container" && !isText;
    find("headers").append(make("th", {scope: "col", role: "columnheader", "data-column": name,
      class: isNumber ? "number" : ""}, button));
    find("sort").append(make("option", {value: name}, title));
  }
}

function choose() {
  view.first = 0;
  showContainers();
  announce(find("shown").textContent);
}

function turn(rowsOn) {
  view.first += rowsOn;
  showContainers();
  find("containers").focus({preventScroll: true});
  find("containers").scrollIntoView();
}

function listen() {
  find("filter").addEventListener("input", choose);
  find("show").addEventListener("change", choose);
  find("sort").addEventListener("change",
      () => sortBy(find("sort").value, find("sort").value !== "container"));
  find("previous").addEventListener("click", () => turn(-ROWS));
  find("next").addEventListener("click", () => turn(ROWS));
  find("explain").addEventListener("submit", (event) => {
    event.preventDefault();
    explain();
  });
  forecastParts.range.addEventListener("change", chooseRange);
  find("pause").addEventListener("click", () => {
    isPaused = !isPaused;
    setText(find("pause"), isPaused ? "Resume updates" : "Pause updates");
    find("pause").classList.toggle("paused", isPaused);
    showFreshness();
    if (!isPaused) refresh();
    else clearTimeout(timer);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(timer);
    else if (!isPaused) refresh();
  });
}

makeHeaders();
listen();
setInterval(showFreshness, 1000);
refresh();

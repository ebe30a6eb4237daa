
// What will expire in an open container, step by step. Counts stay texts or BigInts; only the
// lengths of bars are computed as numbers.

// By name: the length of a forecast and of its steps, in seconds.
const RANGES = {
  hour: {seconds: 3600, step: 300},
  day: {seconds: 86400, step: 3600},
  week: {seconds: 604800, step: 21600},
};

function isCounted({items, error_bound_items: bound}) {
  return items !== "0" || bound !== "0";
}

function boundedText(count, bound) {
  return bound === "0" ? countText(count) : `about ${countText(count)} ± ${countText(bound)}`;
}

// The steps with what the allowed rate can delete in each; undefined without a limit.
function stepsOf(forecast) {
  const rate = forecast.allowed_deletes_per_second;
  let begin = Date.parse(forecast.judged_at);
  return forecast.steps.map((step) => {
    const end = Date.parse(step.end_time);
    const deletable = rate === undefined ? undefined : Math.floor(rate * (end - begin) / 1000);
    begin = end;
    return {...step, deletable};
  });
}

// The count at the right end of the bars. The limit is shown unless the bars would be too short to
// read for it.
function scaleOf(steps) {
  const most = Math.max(...steps.map(({items}) => Number(items)));
  const limit = Math.max(0, ...steps.map(({deletable}) => deletable ?? 0));
  return limit <= 2 * most ? Math.max(most, limit) : most;
}

function endText(forecast) {
  switch (forecast.backlog_end) {
    case "BACKLOG_END_NO_BACKLOG": return "no backlog";
    case "BACKLOG_END_AT_TIME":
      return `about ${timeText(forecast.backlog_end_time)}, in ` +
          spanText(secondsBetween(forecast.judged_at, forecast.backlog_end_time));
    case "BACKLOG_END_AFTER_FORECAST": return "after the end of the forecast, at the current rate";
    case "BACKLOG_END_HELD": return "unknown: deletes are held (see ttlctl status)";
    case "BACKLOG_END_UNLIMITED":
      return "as fast as the store deletes (no limit)";
    default: return "not known";
  }
}

function sumText(counts) {
  return countText(counts.reduce((sum, count) => sum + BigInt(count), 0n));
}

function itemsInAllText({steps, complete}) {
  const isExact = steps.every((step) => step.error_bound_items === "0");
  const sizes = steps.filter(({bytes}) => bytes !== undefined).map(({bytes}) => bytes);
  return `${isExact ? "" : "about "}${sumText(steps.map(({items}) => items))} items` +
      (sizes.length === 0 ? "" : `, ${sumText(sizes)} bytes`) +
      (complete ? "" : "; items are still being counted after the start");
}

function forecastFacts(forecast) {
  const bound = forecast.backlog_error_bound_items;
  return [
    ["expiring", itemsInAllText(forecast)],
    ["backlog", `${bound === "0" ? "" : "about "}${countText(forecast.backlog_items)} items` +
        (bound === "0" ? "" : `, off by ${countText(bound)} at most`)],
    ["allowed", allowedText(forecast)],
    ["backlog ends", endText(forecast)],
  ];
}

// --- Its table ---

function makeStepRow(hasLimit) {
  const until = make("td", {role: "cell", class: "time moment"});
  const items = make("td", {role: "cell", class: "number items"});
  const allowed = make("td", {role: "cell", class: "number limit", "data-label": "allowed"});
  const within = make("th", {scope: "row", role: "rowheader", class: "time"});
  const all = makeSvg("rect", {class: "bar late", height: 10});
  const inTime = makeSvg("rect", {class: "bar", height: 10});
  const mark = makeSvg("line", {class: "mark", y1: -2, y2: 12});
  const svg = makeSvg("svg", {class: "step", viewBox: "0 0 100 10", preserveAspectRatio: "none",
    "aria-hidden": "true"}, all, inTime, mark);
  const element = make("tr", {role: "row"}, within, until, items, ...(hasLimit ? [allowed] : []),
      make("td", {role: "cell", class: "share"}, svg));
  return {element, within, until, items, allowed, all, inTime, mark};
}

function makeStepTable(stepRows, hasLimit) {
  const heads = [["In", ""], ["Until", "moment"], ["Will expire", "number"],
    ...(hasLimit ? [["Deletes allowed", "number limit"]] : []), ["Share", "share"]];
  return make("table", {class: "steps", role: "table"},
      make("caption", {class: "unseen"}, "Items that will expire, by step"),
      make("thead", {role: "rowgroup"}, make("tr", {role: "row"},
          ...heads.map(([title, kind]) =>
              make("th", {scope: "col", role: "columnheader", class: kind}, title)))),
      make("tbody", {role: "rowgroup"}, ...stepRows.map(({element}) => element)));
}

// Any item has a bar, and any that is beyond the limit is seen to be.
function setStepBar({all, inTime, mark}, {items, deletable}, scale) {
  const count = Number(items);
  const full = count === 0 ? 0 : Math.max(0.5, 100 * count / scale);
  const isBeyond = deletable !== undefined && deletable < count;
  const allowed = isBeyond ? Math.min(full - 0.5, 100 * deletable / scale) : full;
  all.setAttribute("width", full.toFixed(2));
  inTime.setAttribute("width", allowed.toFixed(2));
  all.toggleAttribute("hidden", !isBeyond);
  mark.toggleAttribute("hidden", deletable === undefined || deletable > scale);
  const at = deletable === undefined || scale === 0 ? "0" : (100 * deletable / scale).toFixed(2);
  mark.setAttribute("x1", at);
  mark.setAttribute("x2", at);
}

function setStepRow(row, step, judgedAt, scale) {
  setText(row.within, spanText(secondsBetween(judgedAt, step.end_time)));
  setText(row.until, timeText(step.end_time));
  setText(row.items, boundedText(step.items, step.error_bound_items));
  if (step.deletable !== undefined) setText(row.allowed, countText(step.deletable));
  setStepBar(row, step, scale);
}

function limitText(deletable, scale) {
  if (deletable === undefined) return "There is no limit on deletes.";
  return deletable > scale ? "What may be deleted in a step is beyond the scale." :
      "The line is what may be deleted in a step; what is beyond it is red.";
}

function legendText(steps, scale) {
  const isExact = steps.every((step) => step.error_bound_items === "0");
  return limitText(steps[0].deletable, scale) + (isExact ? "" : " ± is the maximum error.");
}

// --- In the details ---

const forecastParts = {
  range: make("select", {id: "forecast-range"},
      ...Object.keys(RANGES).map((name) => make("option", {value: name}, name))),
  doubt: make("p", {id: "forecast-doubt", class: "warn note", hidden: ""}, "The tracked items may be incomplete."),
  facts: make("dl", {id: "forecast-facts", class: "facts"}),
  steps: make("div", {id: "forecast-steps"}),
  legend: make("p", {id: "forecast-legend", class: "muted"}),
};
forecastParts.range.value = "day";
let stepRows = [];

const forecastBlock = make("div", {},
    make("h3", {}, "Forecast"),
    make("div", {class: "controls"}, make("label", {}, "For the next ", forecastParts.range)),
    forecastParts.doubt, forecastParts.facts, forecastParts.steps, forecastParts.legend);

// Cells are changed in place, because times pass with each refresh.
function showSteps(forecast) {
  const steps = stepsOf(forecast);
  const hasLimit = forecast.allowed_deletes_per_second !== undefined;
  const shown = steps.some(isCounted) ? steps.length : 0;
  rebuild(forecastParts.steps, [shown, hasLimit], () => {
    stepRows = steps.slice(0, shown).map(() => makeStepRow(hasLimit));
    return shown === 0 ? [make("p", {class: "muted"}, "Nothing will expire in this time.")] :
        [makeStepTable(stepRows, hasLimit)];
  });
  const scale = scaleOf(steps);
  stepRows.forEach((row, i) => setStepRow(row, steps[i], forecast.judged_at, scale));
  forecastParts.legend.hidden = shown === 0;
  setText(forecastParts.legend, legendText(steps, scale));
}

// Shows a GetForecastResponse; undefined: none has been read yet, or `problem` says why not.
function showForecast(forecast, problem) {
  forecastParts.doubt.hidden = !forecast?.data_in_doubt;
  forecastParts.legend.hidden = true;
  const list = forecast === undefined ? [] : forecastFacts(forecast);
  rebuild(forecastParts.facts, list,
      () => facts(list.map(([name, text]) => [name, isolated(text)])));
  if (forecast !== undefined) return showSteps(forecast);
  rebuild(forecastParts.steps, ["", problem], () => [problem === undefined ?
      make("p", {class: "muted"}, "Loading.") : cannotBeRead("It", problem)]);
}

function forecastQuery(container, range) {
  const {seconds, step} = RANGES[range];
  return `container=${encodeURIComponent(container)}&seconds=${seconds}&step=${step}`;
}

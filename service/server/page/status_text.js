"use strict";

// Texts and figures of the status page, as ttlctl shows them. Pure functions. Whole numbers of the
// API are decimal texts, because JavaScript's numbers end at 2^53.

const LATE_SECONDS = 15 * 60;  // an item that is due for longer is late

function countText(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

// A measured rate, to three digits.
function measuredText(number) {
  return number >= 99.95 ? countText(Math.round(number)) : String(Number(number.toPrecision(3)));
}

function rateText(number) {
  return `${measuredText(number)}/s`;
}

function plural(number, one, many) {
  return `${countText(number)} ${Number(number) === 1 ? one : many}`;
}

// Seconds of a duration of the API, such as "1.500s"; undefined if it is absent.
function seconds(duration) {
  return duration === undefined ? undefined : parseFloat(duration);
}

function spanText(length) {
  const tenths = Math.floor(length * 10 + 1e-6);
  if (tenths < 600 && tenths % 10 !== 0) return `${Math.floor(tenths / 10)}.${tenths % 10}s`;
  const units = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  const whole = Math.floor(tenths / 10);
  for (let i = 0; i + 1 < units.length; ++i) {
    if (whole < units[i][0]) continue;
    const small = Math.floor((whole % units[i][0]) / units[i + 1][0]);
    return `${Math.floor(whole / units[i][0])}${units[i][1]}` +
        (small === 0 ? "" : ` ${small}${units[i + 1][1]}`);
  }
  return `${whole}s`;
}

function signedSpanText(length) {
  const text = spanText(Math.abs(length));
  return text === "0s" ? text : (length < 0 ? "-" : "+") + text;
}

// A timestamp of the API, to the second.
function timeText(timestamp) {
  return timestamp.replace(/\.\d+Z$/, "Z");
}

function unixTimeText(unixSeconds) {
  const time = new Date(Number(unixSeconds) * 1000);
  if (Number.isNaN(time.getTime())) return `${unixSeconds} s`;
  return timeText(time.toISOString());
}

// --- Names and keys of the store ---

function bytesOfBase64(text) {
  return Uint8Array.from(atob(text ?? ""), (character) => character.charCodeAt(0));
}

function hexEscapes(bytes) {
  return Array.from(bytes, (byte) => "\\x" + byte.toString(16).padStart(2, "0")).join("");
}

// Controls, and marks that reorder, join or break the text around them.
const UNPRINTABLE =
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

// Text of a store, with what cannot be shown as \xHH.
function shownText(text) {
  return text.replace(UNPRINTABLE, (mark) => hexEscapes(new TextEncoder().encode(mark)));
}

// Reads one character of UTF-8 at `start`: its length, 0 if it is malformed.
function characterLength(bytes, start) {
  for (let length = 1; length <= 4 && start + length <= bytes.length; ++length) {
    try {
      new TextDecoder("utf-8", {fatal: true, ignoreBOM: true})
          .decode(bytes.subarray(start, start + length));
      return length;
    } catch {
      // A longer piece may be whole.
    }
  }
  return 0;
}

// A key as in ttlctl: \\ for a backslash, \xHH for what is not printable text.
function keyText(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length;) {
    const length = characterLength(bytes, i);
    const piece = bytes.subarray(i, i + Math.max(length, 1));
    text += length === 0 ? hexEscapes(piece) :
        shownText(new TextDecoder("utf-8", {ignoreBOM: true}).decode(piece).replace("\\", "\\\\"));
    i += piece.length;
  }
  return text;
}

function itemText(partitionKey, id) {
  const idText = id.length === 0 ? '""' : keyText(id);
  return partitionKey.length === 0 ? idText : `${keyText(partitionKey)} / ${idText}`;
}

// The bytes of a key in ttlctl's notation, percent-encoded. Throws an Error that says what is
// wrong.
function encodedKey(text) {
  let encoded = "";
  while (text !== "") {
    const escape = text.match(/^\\(\\|x([0-9a-fA-F]{2}))/);
    if (text[0] === "\\" && escape === null) {
      throw new Error(`the backslash in "${text}" begins no escape: ` +
          "write \\\\ for a backslash, \\xHH for a byte");
    }
    const piece = escape === null ? text.match(/^[^\\]+/)[0] : escape[0];
    encoded += escape === null ? encodeURIComponent(piece.toWellFormed?.() ?? piece) :
        escape[1] === "\\" ? "%5C" : `%${escape[2]}`;
    text = text.slice(piece.length);
  }
  return encoded;
}

// A word of a command line.
function shellWord(text) {
  if (text.search(UNPRINTABLE) >= 0) {
    const escaped = text.replace(/[\\']/g, "\\$&");
    return `$'${shownText(escaped)}'`;
  }
  if (/^[A-Za-z0-9_\/.:@%+,=][A-Za-z0-9_\/.:@%+,=-]*$/.test(text)) return text;
  return `'${text.replace(/'/g, "'\\''")}'`;
}

// Ids, as that of a container, as the last arguments of a command line.
function idArguments(...texts) {
  return (texts.some((text) => text.startsWith("-")) ? "-- " : "") +
      texts.map(shellWord).join(" ");
}

// --- What holds deletes back ---

const AUTOMATICALLY = "The hold ends automatically.";

// Commands, each with its purpose.
function toLift(command) {
  return [["To lift it", command]];
}

function limitHold(container, sidecar) {
  const command = sidecar.max_deletes_per_second === 0 ? "ttlctl limits set" :
      "ttlctl containers set";
  const id = sidecar.max_deletes_per_second === 0 ? "" : ` ${idArguments(container.container)}`;
  return {
    commands: toLift(`${command} --max-deletes-per-second 100${id}`),
    note: "Replace 100 by the rate you want.",
  };
}

// By name: its text as in ttlctl, and how it is lifted: commands, or a note that says what ends it.
const HOLDS = {
  DELETE_HOLD_TTL_OFF: ["ttl is off", (container) => ({
    commands: toLift(`ttlctl containers set --default-ttl -1 ${idArguments(container.container)}`),
    note: "With -1 only items with a ttl of their own expire.",
  })],
  DELETE_HOLD_CONTAINER_PAUSED: ["paused", (container) => ({
    commands: toLift(`ttlctl resume ${idArguments(container.container)}`),
    note: container.pause && pauseText(container.pause),
  })],
  DELETE_HOLD_ALL_PAUSED: ["all paused", (container, sidecar) => ({
    commands: toLift("ttlctl resume --all"),
    note: sidecar.pause && pauseText(sidecar.pause),
  })],
  DELETE_HOLD_ZERO_RATE: ["rate is 0", limitHold],
  DELETE_HOLD_RATE: ["rate limit", () => ({note: "Deletes go on as fast as the limit allows."})],
  DELETE_HOLD_CLOCK_SUSPECT: ["clock is suspect", () => ({
    commands: toLift("ttlctl clock accept"),
    note: "Only if the wall clock is right.",
  })],
  DELETE_HOLD_STORE: ["store", () => ({note: "Ends when the store responds."})],
  DELETE_HOLD_CLOCK_SKEW: ["clock skew to the store", () => ({
    note: "Ends when the clocks of the sidecar and the store agree.",
  })],
  DELETE_HOLD_GRACE: ["grace of a stricter policy or of adopted items", (container) => ({
    note: container.grace_until === undefined ? AUTOMATICALLY :
        `The hold ends automatically at ${timeText(container.grace_until)}.`,
  })],
  DELETE_HOLD_STORAGE: ["storage refuses writes", (container, sidecar) => ({
    note: sidecar.storage_problem && shownText(sidecar.storage_problem),
  })],
  DELETE_HOLD_CHANGE_UNDER_WAY: ["change in progress", () => ({note: AUTOMATICALLY})],
  DELETE_HOLD_INDEX_BUILDING: ["index is being built", (container) => ({
    note: `${container.index_progress?.percent ?? 0} % built. ${AUTOMATICALLY}`,
  })],
  DELETE_HOLD_NO_STORE: ["no store configured", () => ({
    note: "Start ttl-sidecar with --store.",
  })],
  DELETE_HOLD_BUDGET: ["no request units left for deletes", () => ({
    note: "Ends when requests use less throughput.",
  })],
  DELETE_HOLD_BRAKE: ["brake: a policy change or an adoption waits for confirmation",
    (container) => ({
      commands: toLift(`ttlctl containers confirm ${idArguments(container.container)}`),
      note: container.brake && `${plural(container.brake.newly_due_items, "item", "items")} ` +
          `became due and wait until ${timeText(container.brake.until)}. ` +
          "Confirm only if this is intended.",
    })],
  DELETE_HOLD_STORE_UNCONFIRMED: ["store not confirmed", (container, sidecar) => ({
    commands: toLift(`ttlctl store confirm ${idArguments(sidecar.store.store_id)}`),
    note: `${shownText(sidecar.store.unconfirmed)}. Confirm only if it is the right store.`,
  })],
  DELETE_HOLD_PUSH_BACK: ["the store pushes back", () => ({note: AUTOMATICALLY})],
  DELETE_HOLD_BACKOFF: ["delay after failed calls, or as the store asked", (container) => ({
    note: container.held_until === undefined ? AUTOMATICALLY :
        `The hold ends automatically at ${timeText(container.held_until)}.`,
  })],
  DELETE_HOLD_DATA_IN_DOUBT: ["the tracked items may be incomplete", () => ({
    note: "Ends when a rebuild from the store is done.",
    commands: [["To start or follow one", "ttlctl rebuild"],
      ["If they are complete", "ttlctl data trust"]],
  })],
  DELETE_HOLD_RETRY: ["failed items wait for their retry", (container) => ({
    commands: [["To list them", `ttlctl stuck ${idArguments(container.container)}`]],
    note: AUTOMATICALLY,
  })],
  DELETE_HOLD_HELD: ["held", (container) => ({
    commands: [["To list the holds", `ttlctl holds list ${idArguments(container.container)}`]],
    note: "Ends when the last hold has ended.",
  })],
  DELETE_HOLD_HOLDS_IN_DOUBT: ["holds may be missing", (container) => ({
    commands: [["Once they are placed again",
      `ttlctl holds accept ${idArguments(container.container)}`]],
  })],
  DELETE_HOLD_WINDOW: ["outside of windows", (container) => ({
    note: windowsNote(container.windows),
  })],
  DELETE_HOLD_GATE: ["items wait for gated subscriptions", (container) => ({
    commands: gateCommands(container),
    note: gateNote(container.feed),
  })],
};

function gateCommands({container, feed}) {
  const list = [["To see how far they are", `ttlctl subscriptions list ${idArguments(container)}`]];
  for (const name of feed?.waiting_for ?? []) {
    list.push([`To delete the items without ${shownText(name)}`,
      `ttlctl subscriptions delete ${idArguments(container, name)}`]);
  }
  return list;
}

// How many items of a container wait, and for which subscriptions.
function gateNote(feed) {
  if (feed === undefined || feed.waiting_for.length === 0) return AUTOMATICALLY;
  const names = feed.waiting_for.map(shownText).join(", ");
  return `${plural(feed.gated_items, "item waits", "items wait")} until ${names} ` +
      `${feed.waiting_for.length === 1 ? "has" : "have"} acknowledged the expiry.`;
}

// When the windows of a container allow deletes next, and whether those to come suffice.
function windowsNote(windows) {
  if (windows === undefined) return undefined;
  if (windows.problem) return shownText(windows.problem);
  const next = windows.next_start === undefined ? "The windows never allow deletes." :
      `Deletes go on at ${timeText(windows.next_start)}.`;
  if (windows.suffices) return next;
  return `${next} Not enough: within 7 days ` +
      `${plural(windows.due_items, "item is", "items are")} due and ` +
      `${countText(windows.deletable_items)} can be deleted.`;
}

// --- Holds on items ---

// What a hold covers.
function coverText(hold) {
  if (hold.all_items) return "all items";
  if (hold.partition_key !== undefined) {
    return `partition ${keyText(bytesOfBase64(hold.partition_key)) || '""'}`;
  }
  return plural(hold.key_count, "key", "keys");
}

function untilText(hold) {
  return hold.until === undefined ? "released" : timeText(hold.until);
}

function releaseCommand({container, hold_id: id}) {
  return `ttlctl holds release ${idArguments(container, id)}`;
}

function holdCountsText(counts) {
  const parts = [plural(counts.holds, "hold", "holds")];
  if (counts.on_all_items !== "0") parts.push(`${countText(counts.on_all_items)} on all items`);
  parts.push(`${plural(counts.items_set_aside, "due item", "due items")} set aside`);
  if (counts.ending !== "0") parts.push(`${countText(counts.ending)} ending`);
  return parts.join(", ");
}

// --- Feeds ---

function feedText(feed, now) {
  const announced = feed.watermark === undefined ? "nothing announced since the start yet" :
      `announced up to ${spanText(Math.max(0, secondsBetween(feed.watermark, now)))} ago`;
  const still = feed.stall_reason === "" ? "" :
      `, stands still: ${shownText(feed.stall_reason)}`;
  const full = feed.is_full ? ", FULL" : "";
  const gated = feed.gated_items === "0" ? "" :
      `, ${plural(feed.gated_items, "item waits", "items wait")} for subscriptions`;
  return `${announced}${still}${full}, ` +
      `${plural(feed.expired_items, "expired item", "expired items")} stored${gated}`;
}

function subscriptionText(subscription, now) {
  const {name, unacknowledged_events: events, oldest_unacknowledged_time: oldest} = subscription;
  const atLeast = subscription.is_lower_bound ? "at least " : "";
  const behind = oldest === undefined ? "all acknowledged" :
      `${atLeast}${plural(events, "event", "events")} not acknowledged, ` +
      `the oldest ${spanText(Math.max(0, secondsBetween(oldest, now)))} ago`;
  const lost = subscription.has_lost_events ? ", HAS LOST EVENTS" : "";
  const gate = subscription.gate ? " (gated)" : "";
  const givenUp = subscription.given_up_sequence === "0" ? "" :
      `, GIVEN UP up to event ${subscription.given_up_sequence}`;
  return `${shownText(name)}${gate}: ${behind}, ` +
      `${plural(subscription.streams, "stream", "streams")}${lost}${givenUp}`;
}

function pauseText(pause) {
  return `"${shownText(pause.reason)}" since ${timeText(pause.since)}`;
}

function holdText(hold) {
  return HOLDS[hold]?.[0] ?? shownText(hold);
}

function holdsText(holds) {
  return holds.length === 0 ? "none" : holds.map(holdText).join(", ");
}

// The text of a hold, and how it is lifted: {text, commands, note}, the latter two if there are
// any.
function describeHold(hold, container, sidecar) {
  return {text: holdText(hold), ...HOLDS[hold]?.[1](container, sidecar)};
}

// The holds of all containers, as names for describeHold().
function holdsOfAll(sidecar) {
  const is = {
    DELETE_HOLD_ALL_PAUSED: sidecar.pause !== undefined,
    DELETE_HOLD_ZERO_RATE: sidecar.max_deletes_per_second === 0,
    DELETE_HOLD_CLOCK_SUSPECT: sidecar.clock.state === "CLOCK_STATE_SUSPECT",
    DELETE_HOLD_STORAGE: !sidecar.storage_writable,
    DELETE_HOLD_STORE_UNCONFIRMED: sidecar.store.unconfirmed !== "",
    DELETE_HOLD_DATA_IN_DOUBT: sidecar.data.in_doubt,
  };
  return Object.keys(is).filter((hold) => is[hold]);
}

// --- Rates ---

// What passed between two samples {at, sent, cleared} of a container, per second; undefined if they
// do not tell. `cleared` are items that left the backlog.
function ratesBetween(earlier, later) {
  const passed = later.at - earlier.at;
  if (!(passed > 0) || later.sent < earlier.sent) return undefined;
  return {
    sent: (later.sent - earlier.sent) / passed,
    cleared: (later.cleared - earlier.cleared) / passed,
  };
}

// How long the backlog of a container takes at `rates`, while items of the next hour come in. In
// seconds; Infinity: never at these rates; undefined: not known yet.
function catchUpSeconds(status, rates) {
  const backlog = Number(status.backlog);
  if (backlog === 0) return 0;
  if (rates === undefined) return undefined;
  const coming = Number(status.items.expiring_per_hour?.[0] ?? 0) / 3600;
  const net = rates.cleared - coming;
  return net > 0 ? backlog / net : Infinity;
}

function catchUpText(status, rates) {
  const length = catchUpSeconds(status, rates);
  if (length === 0) return "caught up";
  if (length === undefined) return "measuring";
  if (length === Infinity) return rates.cleared === 0 ? "no deletes" : "backlog grows";
  return (status.backlog_is_lower_bound ? "at least " : "about ") + spanText(Math.ceil(length));
}

function allowedText(status) {
  const allowed = status.allowed_deletes_per_second;
  return allowed === undefined ? "no limit" : rateText(allowed);
}

// --- Deletes ---

function tallyText(deletes) {
  const others = [
    [deletes.not_found, "not found"],
    [deletes.modified, "modified (kept)"],
    [deletes.not_expired, "not expired by the store's clock"],
    [Number(deletes.throttled) - Number(deletes.out_of_time), "throttled"],
    [deletes.out_of_time, "out of time"],
    [deletes.failed, "failed"],
    [deletes.unanswered, "unanswered"],
  ];
  return [[deletes.sent, "sent"], [deletes.deleted, "deleted"],
    ...others.filter(([count]) => Number(count) !== 0)]
      .map(([count, name]) => `${countText(count)} ${name}`).join(", ");
}

// How far the comparison with the store is: a number from 0 to 1.
function doneShare(reconciliation) {
  const total = Number(reconciliation.containers_total);
  if (!(total > 0)) return 0;
  const estimated = Number(reconciliation.current_estimated_items ?? 0);
  const current = estimated > 0 ? Number(reconciliation.current_items) / estimated : 0;
  return Math.min(1, (Number(reconciliation.containers_done) + Math.min(current, 1)) / total);
}

// Where an age lies on a scale of 0 to 1, whose part up to MARK is for items that are not late.
const MARK = 0.6;
function ageShare(age) {
  if (age <= LATE_SECONDS) return MARK * age / LATE_SECONDS;
  return Math.min(1, MARK + (1 - MARK) * Math.log(age / LATE_SECONDS) / Math.log(96));  // a day
}

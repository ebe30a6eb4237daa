import grpc from '@grpc/grpc-js';
import { Calls } from './calls.js';
import { SidecarError, aboutPart, fromMessage, requireLength } from './errors.js';
import { followEvents } from './event_watch.js';
import { HEALTH_CHECK, SERVING, serviceDefinition } from './messages.js';
import { requireObject, requireOptions } from './options.js';
import { Kind } from './repeats.js';
import { download, exchange, follow } from './streams.js';
import { requireTimeLimit } from './time_limits.js';
import { UsageReporter } from './usage.js';

const DEFAULT_ADDRESS = 'unix:/run/ttl-sidecar/sidecar.sock';
const MAX_ENTRIES_PER_CALL = 1000;

// By their names. An acknowledgement is sent again as reads are: it never goes back.
const READ = /^(Acknowledge|Check|Explain|Get|List)/;
const SERVICES = [
  'ItemService',
  'ContainerService',
  'ExpiryService',
  'FeedService',
  'HoldService',
  'MaintenanceService',
];
const METHODS = Object.assign({}, ...SERVICES.map(serviceDefinition));

// In doubt, keep: an answer that a later version invents hides nothing.
const VISIBILITIES = { VISIBILITY_EXPIRED: 'expired', VISIBILITY_UNTRACKED: 'untracked' };
const TRACK_RESULTS = { TRACK_RESULT_TRACKED: 'tracked', TRACK_RESULT_STALE: 'stale' };
const UNTRACK_RESULTS = {
  UNTRACK_RESULT_UNTRACKED: 'untracked',
  UNTRACK_RESULT_STALE: 'stale',
  UNTRACK_RESULT_NOT_TRACKED: 'notTracked',
};

const TOUCH_RESULTS = {
  TOUCH_RESULT_TOUCHED: 'touched',
  TOUCH_RESULT_RECENT: 'recent',
  TOUCH_RESULT_EXPIRED: 'expired',
  TOUCH_RESULT_NOT_TRACKED: 'notTracked',
};

const PLACE_HOLD_RESULTS = {
  PLACE_HOLD_RESULT_HELD: 'held',
  PLACE_HOLD_RESULT_NOT_TRACKED: 'notTracked',
  PLACE_HOLD_RESULT_ALREADY_DELETED: 'alreadyDeleted',
};

// The API has 0 for never.
const timeOrNever = (expireTime) => (expireTime === 0 ? undefined : expireTime);

function readAnswers({ visibilities, expireTimes, judgedAt }, count) {
  requireLength(visibilities, count);
  requireLength(expireTimes, count);
  return visibilities.map((name, i) => {
    const visibility = VISIBILITIES[name] ?? 'visible';
    const expireTime = timeOrNever(expireTimes[i]);
    return { visibility, expired: visibility === 'expired', expireTime, judgedAt };
  });
}

function readResults(names, { results }, count) {
  requireLength(results, count);
  return results.map((name) => names[name] ?? 'unknown');
}

function readTouched(response, count) {
  const { expireTimes, touchTime } = response;
  requireLength(expireTimes, count);
  return readResults(TOUCH_RESULTS, response, count).map((result, i) => ({
    result,
    expireTime: timeOrNever(expireTimes[i]),
    touchTime,
  }));
}

const readTrackResults = (response, count) => readResults(TRACK_RESULTS, response, count);

// Sends `entries` a part at a time. `prepare` converts a part and returns the function that sends it;
// all parts are converted first, so that nothing is sent if one entry is wrong. The error of one part
// of several says which.
async function inParts(entries, prepare) {
  const all = [...entries];
  const parts = [];
  for (let first = 0; first < all.length; first += MAX_ENTRIES_PER_CALL) {
    const part = all.slice(first, first + MAX_ENTRIES_PER_CALL);
    parts.push({ first, last: first + part.length - 1, send: prepare(part) });
  }
  const results = [];
  for (const { first, last, send } of parts) {
    try {
      results.push(...(await send()));
    } catch (error) {
      if (!(error instanceof SidecarError) || parts.length === 1) throw error;
      throw aboutPart(error, `entries ${first} to ${last}`);
    }
  }
  return results;
}

function target(container) {
  return container === undefined ? { allContainers: true } : { container };
}

// As target(), where a container that is undefined by mistake must not mean all of them.
function namedTarget(container) {
  if (typeof container === 'string') return { container };
  if (container?.all === true && Object.keys(container).length === 1) return target();
  throw new TypeError(
    `container = ${container}: the id of a container is required, or { all: true }`,
  );
}

const CLIENT_OPTIONS = [
  'address',
  'credentials',
  'interceptors',
  'checkTimeoutMs',
  'reportTimeoutMs',
  'adminTimeoutMs',
];

// By the option with which a watcher says that it knows one.
const JUDGING_RULES = {
  expireAt: 'JUDGING_RULE_EXPIRE_AT',
  showHeld: 'JUDGING_RULE_SHOW_HELD',
  touch: 'JUDGING_RULE_TOUCH',
};

const AS_OF_EXAMPLE = '{ asOf: new Date() }';

const ITEM_FILTERS = [
  'showExpired',
  'expiredOnly',
  'partitionKey',
  'expireTimeFrom',
  'expireTimeTo',
  'asOf',
];
const CONTAINER_FILTERS = ['idPrefix', 'ttlOnOnly'];

const HOLD_FIELDS = ['reason', 'until', 'keys', 'partitionKey', 'allItems'];

function requireScope({ keys, partitionKey, allItems }) {
  const given = [keys !== undefined, partitionKey !== undefined, allItems === true];
  if (given.filter(Boolean).length !== 1 || (allItems !== undefined && allItems !== true)) {
    throw new TypeError('placeHold(): one of keys, partitionKey and allItems: true is required');
  }
}

function requireInterceptors(interceptors) {
  const isList = Array.isArray(interceptors) && interceptors.every((f) => typeof f === 'function');
  if (!isList) throw new TypeError('interceptors: a list of functions is required');
  return interceptors;
}

function requireLimit(limit) {
  if (limit === null) return { unlimited: true };
  if (typeof limit === 'number') return { maxDeletesPerSecond: limit };
  throw new TypeError(`limit = ${limit}: a number is required, or null for no limit`);
}

export class Client {
  #calls;
  #timeouts;
  #usage;

  constructor(options = {}) {
    const example = `{ address: '${DEFAULT_ADDRESS}' }`;
    const {
      address = DEFAULT_ADDRESS,
      credentials = grpc.credentials.createInsecure(),
      interceptors = [],
      checkTimeoutMs = 1000,
      reportTimeoutMs = 5000,
      adminTimeoutMs = 15000,
    } = requireOptions('new Client()', options, CLIENT_OPTIONS, example);
    this.address = address;
    this.#timeouts = {
      check: requireTimeLimit('checkTimeoutMs', checkTimeoutMs),
      report: requireTimeLimit('reportTimeoutMs', reportTimeoutMs),
      admin: requireTimeLimit('adminTimeoutMs', adminTimeoutMs),
    };
    this.#calls = new Calls(address, credentials, requireInterceptors(interceptors));
    this.#usage = new UsageReporter((request) =>
      this.#call('ReportUsage', request, 'check', Kind.NOW),
    );
  }

  close() {
    this.#usage.stop();
    this.#calls.close();
  }

  // Data path.

  async track(container, items, options = {}) {
    const { adopted = false } = requireOptions('track()', options, ['adopted'], '{ adopted: true }');
    return inParts(items, (part) => {
      const send = this.#prepareReport('TrackItems', { container, items: part, adopted });
      return async () => readTrackResults(await send(), part.length);
    });
  }

  untrack(container, deletions) {
    return inParts(deletions, (part) => {
      const send = this.#prepareReport('UntrackItems', { container, items: part });
      return async () => readResults(UNTRACK_RESULTS, await send(), part.length);
    });
  }

  async touch(container, keys, options = {}) {
    const { unlessTouchedWithinMs } = requireOptions(
      'touch()',
      options,
      ['unlessTouchedWithinMs'],
      '{ unlessTouchedWithinMs: 60000 }',
    );
    return inParts(keys, (part) => {
      const request = { container, keys: part, unlessTouchedWithin: unlessTouchedWithinMs };
      const send = this.#prepare('TouchItems', request, 'report', Kind.TOUCH);
      return async () => readTouched(await send(), part.length);
    });
  }

  async check(container, checks, options = {}) {
    const { asOf } = requireOptions('check()', options, ['asOf'], AS_OF_EXAMPLE);
    return inParts(checks, (part) => {
      const send = this.#prepare('CheckVisibility', { container, checks: part, asOf }, 'check');
      return async () => readAnswers(await send(), part.length);
    });
  }

  trackStream(container, batches) {
    return this.#exchange(
      'StreamTrackItems',
      (items) => ({ container, items }),
      readTrackResults,
      batches,
      'report',
    );
  }

  checkStream(container, batches, options = {}) {
    const { asOf } = requireOptions('checkStream()', options, ['asOf'], AS_OF_EXAMPLE);
    return this.#exchange(
      'StreamCheckVisibility',
      (checks) => ({ container, checks, asOf }),
      readAnswers,
      batches,
      'check',
    );
  }

  async getItem(container, id, partitionKey = '') {
    return (await this.#call('GetItem', { container, partitionKey, id }, 'check')).item;
  }

  listItems(container, options = {}) {
    const filters = requireOptions('listItems()', options, ITEM_FILTERS, '{ showExpired: true }');
    return this.#pages('ListItems', { ...filters, container }, 'items');
  }

  addUsage(container, requestUnits) {
    this.#usage.add(container, requestUnits);
  }

  get usageFailures() {
    return this.#usage.failures;
  }

  async reportUsage(container, requestUnits, options = {}) {
    const names = ['periodMs', 'reporter'];
    const { periodMs = 1000, reporter = '' } = requireOptions(
      'reportUsage()',
      options,
      names,
      '{ periodMs: 1000 }',
    );
    const request = { container, requestUnits, period: periodMs, reporter };
    await this.#call('ReportUsage', request, 'report', Kind.CHANGE);
  }

  // Containers.

  async createContainer(id, fields = {}) {
    requireObject('createContainer()', fields, '{ defaultTtl: 60 }');
    return (await this.#call('CreateContainer', { container: { ...fields, id } })).container;
  }

  async getContainer(id) {
    return (await this.#call('GetContainer', { id })).container;
  }

  listContainers(options = {}) {
    const example = "{ idPrefix: 'salesdb/' }";
    const filters = requireOptions('listContainers()', options, CONTAINER_FILTERS, example);
    return this.#pages('ListContainers', { ...filters }, 'containers');
  }

  async updateContainer(container, paths, options = {}) {
    const example = '{ force: true }';
    const { force = false } = requireOptions('updateContainer()', options, ['force'], example);
    const request = { container, updateMask: { paths }, force };
    return (await this.#call('UpdateContainer', request)).container;
  }

  setDefaultTtl(id, defaultTtl) {
    return this.updateContainer({ id, defaultTtl }, ['default_ttl']);
  }

  previewContainer(container) {
    return this.#download('PreviewContainer', { container }, 'preview');
  }

  async previewUpdate(container, paths, options = {}) {
    const example = '{ force: true }';
    const { force = false } = requireOptions('previewUpdate()', options, ['force'], example);
    const request = { container, updateMask: { paths }, validateOnly: true, force };
    return this.#call('UpdateContainer', request);
  }

  async deleteContainer(id, etag = '', options = {}) {
    const example = '{ force: true }';
    const { force = false } = requireOptions('deleteContainer()', options, ['force'], example);
    await this.#call('DeleteContainer', { id, etag, force });
  }

  async *watchContainers(options = {}) {
    const { heartbeatMs = 1000, ...known } = requireOptions(
      'watchContainers()',
      options,
      ['heartbeatMs', ...Object.keys(JUDGING_RULES)],
      '{ heartbeatMs: 1000 }',
    );
    const longestSilenceMs = requireTimeLimit('heartbeatMs', 5 * heartbeatMs);
    const method = METHODS.WatchContainers;
    const rules = Object.keys(known)
      .filter((name) => known[name])
      .map((name) => JUDGING_RULES[name]);
    const bytes = method.requestSerialize({ heartbeatInterval: heartbeatMs, rules });
    const call = this.#calls.serverStream(method, bytes, { waitForReady: true });
    yield* follow(call, longestSilenceMs, this.#calls);
  }

  // Operators: status, and what holds deletes back.

  status(container = '') {
    return this.#call('GetExpiryStatus', { container });
  }

  listStatuses() {
    return this.#pages('ListExpiryStatuses', {}, 'containers');
  }

  explainItem(container, id, partitionKey = '') {
    return this.#call('ExplainItem', { container, partitionKey, id });
  }

  listStuckItems(container) {
    return this.#pages('ListStuckItems', { container }, 'items');
  }

  async forecast(container = undefined, options = {}) {
    const { until, stepMs, defaultTtl } = requireOptions(
      'forecast()',
      options,
      ['until', 'stepMs', 'defaultTtl'],
      '{ stepMs: 3600000 }',
    );
    return this.#call('GetForecast', { ...target(container), until, step: stepMs, defaultTtl });
  }

  async isServing(healthService = '') {
    const bytes = HEALTH_CHECK.requestSerialize({ service: healthService });
    const timeout = this.#timeouts.admin;
    return (await this.#calls.unary(HEALTH_CHECK, bytes, timeout, Kind.NOW)).status === SERVING;
  }

  async pauseDeletes(reason, container) {
    return (await this.#call('PauseDeletes', { ...namedTarget(container), reason })).pause;
  }

  async resumeDeletes(container) {
    await this.#call('ResumeDeletes', namedTarget(container));
  }

  async acceptClock() {
    return (await this.#call('AcceptClock', {})).clock;
  }

  async confirmPolicy(container, etag = '') {
    return (await this.#call('ConfirmPolicy', { container, etag })).container;
  }

  async confirmStore(storeId) {
    await this.#call('ConfirmStore', { storeId });
  }

  async setMaxDeletesPerSecond(limit) {
    return (await this.#call('SetMaxDeletesPerSecond', requireLimit(limit))).maxDeletesPerSecond;
  }

  async resetMaxDeletesPerSecond() {
    const request = { serverDefault: true };
    return (await this.#call('SetMaxDeletesPerSecond', request)).maxDeletesPerSecond;
  }

  // Holds, which keep expired items from being deleted.

  async placeHold(container, holdId, fields) {
    const example = "{ reason: 'audit', allItems: true }";
    const hold = requireOptions('placeHold()', fields, HOLD_FIELDS, example);
    requireScope(hold);
    const { reason, until, keys, partitionKey, allItems } = hold;
    const prepare = (scope) => {
      const request = { container, holdId, reason, until, ...scope };
      return this.#prepare('PlaceHold', request, 'admin', Kind.HOLD);
    };
    if (keys === undefined) {
      const response = await prepare({ partitionKey, allItems })();
      return { hold: response.hold, results: readResults(PLACE_HOLD_RESULTS, response, 0) };
    }
    const all = [...keys];
    if (all.length === 0) throw new RangeError('placeHold(): keys: at least one is required');
    let placed;
    const results = await inParts(all, (part) => {
      const send = prepare({ keys: { keys: part } });
      return async () => {
        const response = await send();
        placed = response.hold;
        return readResults(PLACE_HOLD_RESULTS, response, part.length);
      };
    });
    return { hold: placed, results };
  }

  async releaseHold(container, holdId) {
    await this.#call('ReleaseHold', { container, holdId });
  }

  listHolds(container = '') {
    return this.#pages('ListHolds', { container }, 'holds');
  }

  listHeldKeys(container, holdId) {
    return this.#pages('ListHeldKeys', { container, holdId }, 'keys');
  }

  async acceptHolds(container) {
    await this.#call('AcceptHolds', { container });
  }

  // The feed: what expires and what is deleted.

  async *watchEvents(containers, options = {}) {
    const { token, kinds, heartbeatMs } = requireOptions(
      'watchEvents()',
      options,
      ['token', 'kinds', 'heartbeatMs'],
      "{ kinds: ['EVENT_KIND_EXPIRED'] }",
    );
    yield* this.#watch({ containers: { ids: containers, token, kinds } }, heartbeatMs);
  }

  async *watchSubscription(container, name, options = {}) {
    const example = '{ heartbeatMs: 1000 }';
    const { heartbeatMs } = requireOptions(
      'watchSubscription()',
      options,
      ['heartbeatMs'],
      example,
    );
    yield* this.#watch({ subscription: { container, name } }, heartbeatMs);
  }

  async acknowledge(container, name, epoch, sequence) {
    const request = { container, name, epoch, sequence };
    return (await this.#call('Acknowledge', request)).acknowledgedSequence;
  }

  async createSubscription(container, name, options = {}) {
    const example = "{ kinds: ['EVENT_KIND_EXPIRED'] }";
    const { kinds, consumer, gate, giveUpAfterMs } = requireOptions(
      'createSubscription()',
      options,
      ['kinds', 'consumer', 'gate', 'giveUpAfterMs'],
      example,
    );
    const subscription = { container, name, kinds, consumer, gate, giveUpAfter: giveUpAfterMs };
    return (await this.#call('CreateSubscription', { subscription })).subscription;
  }

  async getSubscription(container, name) {
    return (await this.#call('GetSubscription', { container, name })).subscription;
  }

  listSubscriptions(container = '') {
    return this.#pages('ListSubscriptions', { container }, 'subscriptions');
  }

  async deleteSubscription(container, name) {
    await this.#call('DeleteSubscription', { container, name });
  }

  // Maintenance.

  async startReconciliation(container = '', options = {}) {
    const example = '{ dryRun: true }';
    const { dryRun = false } = requireOptions('startReconciliation()', options, ['dryRun'], example);
    return (await this.#call('StartReconciliation', { container, dryRun })).reconciliation;
  }

  async getReconciliation() {
    return (await this.#call('GetReconciliation', {})).reconciliation;
  }

  async cancelReconciliation() {
    return (await this.#call('CancelReconciliation', {})).reconciliation;
  }

  async trustData() {
    await this.#call('TrustData', {});
  }

  verifyData() {
    return this.#download('VerifyData', {}, 'verification');
  }

  backUpData() {
    return this.#download('BackUpData', {});
  }

  async call(method, request = {}) {
    if (METHODS[method] === undefined) throw new TypeError(`there is no method ${method}`);
    if (METHODS[method].responseStream) throw new TypeError(`${method} is a stream`);
    return this.#call(method, request);
  }

  #prepareReport(method, request) {
    const isOrdered = request.items.every(
      ({ sequence }) => sequence !== undefined && sequence !== null,
    );
    const kind = isOrdered ? Kind.ORDERED_REPORT : Kind.REPORT;
    return this.#prepare(method, request, 'report', kind);
  }

  // Converts the request, and returns the function that sends it.
  #prepare(
    method,
    request,
    timeout = 'admin',
    kind = READ.test(method) ? Kind.READ : Kind.CHANGE,
  ) {
    const bytes = METHODS[method].requestSerialize(request); // a wrong value is the caller's error
    return () => this.#calls.unary(METHODS[method], bytes, this.#timeouts[timeout], kind);
  }

  async #call(...call) {
    return this.#prepare(...call)();
  }

  async *#pages(method, request, field) {
    let pageToken = '';
    do {
      const response = await this.#call(method, { ...request, pageToken });
      yield* response[field];
      pageToken = response.nextPageToken;
    } while (pageToken !== '');
  }

  #watch(source, heartbeatMs = 1000) {
    const longestSilenceMs = requireTimeLimit('heartbeatMs', 5 * heartbeatMs);
    const open = (request) => {
      const bytes = METHODS.WatchEvents.requestSerialize(request);
      return this.#calls.serverStream(METHODS.WatchEvents, bytes, { waitForReady: true });
    };
    const request = { ...source, heartbeatInterval: heartbeatMs };
    return followEvents(open, request, longestSilenceMs, this.#calls);
  }

  // Neither waits for a connection nor is begun again.
  async *#download(method, request, name = undefined) {
    const bytes = METHODS[method].requestSerialize(request);
    const call = this.#calls.serverStream(METHODS[method], bytes, { waitForReady: false });
    yield* download(call, this.#calls, name);
  }

  async *#exchange(method, makeRequest, readResponse, batches, timeout) {
    const { requestSerialize } = METHODS[method];
    const call = this.#calls.bidirectional(METHODS[method]);
    const sizes = []; // of the batches not replied to yet, oldest first
    async function* requests() {
      for await (const batch of batches) {
        const bytes = requestSerialize({ request: makeRequest(batch) });
        sizes.push(batch.length);
        yield bytes;
      }
    }
    const timeoutMs = this.#timeouts[timeout];
    for await (const reply of exchange(call, requests(), timeoutMs, this.#calls)) {
      const size = sizes.shift();
      if (reply.error !== undefined) yield { error: fromMessage(reply.error) };
      else yield { results: readResponse(reply.response, size) };
    }
  }
}

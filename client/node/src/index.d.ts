// Client of ttl-sidecar, and what a store written in JavaScript needs to serve it.
import type { ChannelCredentials, Interceptor, ServerCredentials, status } from '@grpc/grpc-js';
import type * as v1 from './v1.js';

/** Every message of ttl.v1: X as the sidecar gives it, XInput as it is taken. */
export type * as v1 from './v1.js';
export type { Bytes, Integer } from './v1.js';

/** Whole seconds: of a duration, or since 1970. */
export type Seconds = v1.Integer;

/** An item as the store has it. With a `sequence`, the store's own order of writes, a report may be
 * repeated. */
export type Item = v1.ItemInput;

/** A delete that the store made by itself; `ts` is that of the version deleted, 0 if only its
 * `sequence` is known. */
export type Deletion = v1.ItemDeletionInput;

/** An item to judge: by its key alone, or with `ts`, `ttl` and `expireAt` as just read. */
export type Check = v1.VisibilityCheckInput;

/** An item as the sidecar has it, and what follows from it. */
export type ItemView = v1.ItemView & { item: v1.Item };

export type Container = v1.Container;

/** The answer to one check. */
export interface Answer {
  /** A value that this client does not know arrives as 'visible'. 'untracked': the sidecar does not know:
   * nothing is tracked under the key and the check carried no ts; or the item may be held, with showHeld,
   * or touched, with allowTouch. Show it if you carried its ts. */
  visibility: 'visible' | 'expired' | 'untracked';
  /** Whether the store must answer as if the item did not exist. */
  expired: boolean;
  /** First second at which the item is expired; absent if never, or if nothing is known of it. */
  expireTime: number | undefined;
  /** The sidecar's clock when it judged. */
  judgedAt: Date;
}

/** 'stale': a newer report is tracked, and this one changed nothing. */
export type TrackResult = 'tracked' | 'stale' | 'unknown';
export type UntrackResult = 'untracked' | 'stale' | 'notTracked' | 'unknown';

/** Names an item, tracked or not. */
export type ItemKey = v1.ItemKeyInput;

/** What became of a touch. 'recent': the countdown had started within `unlessTouchedWithinMs`;
 * 'expired': the item was expired, and stays so; 'notTracked': or its state is not known. Only 'touched'
 * has changed something. */
export type TouchResult = 'touched' | 'recent' | 'expired' | 'notTracked' | 'unknown';

/** The answer to one touch. */
export interface Touched {
  result: TouchResult;
  /** First second at which the item is expired now; absent if never, or if it is not tracked. */
  expireTime: number | undefined;
  /** From when a touched item counts, in seconds since 1970. */
  touchTime: number;
}

/** A named reader of the feed of one container. */
export type Subscription = v1.Subscription;

/** A hold and what it covers. */
export type Hold = v1.Hold;

/** An item that a hold names, tracked or not. */
export type HeldKey = v1.HeldKeyInput;

/** What a hold found under a key, which is held in each case; 'alreadyDeleted': by a delete that was in
 * flight. */
export type PlaceHoldResult = 'held' | 'notTracked' | 'alreadyDeleted' | 'unknown';

/** A hold that stands, and one result per key, in the order of the keys. */
export interface PlacedHold {
  hold: Hold | undefined;
  results: PlaceHoldResult[];
}

/** What a hold covers: the items with these keys, any number, all of a partition, or all of the
 * container; what is tracked later is included. */
export type HoldScope =
  | { keys: Iterable<HeldKey>; partitionKey?: undefined; allItems?: undefined }
  | { partitionKey: v1.Bytes; keys?: undefined; allItems?: undefined }
  | { allItems: true; keys?: undefined; partitionKey?: undefined };

/** The answer to one message of a stream. A refused message does not end the stream. */
export type Reply<T> =
  { results: T[]; error?: undefined } | { error: SidecarError; results?: undefined };

export interface AsOf {
  /** Judge as of then instead of now, so that several calls of one query agree; usually `judgedAt` of
   * the first answer, at most an hour back (CheckVisibilityRequest.as_of). */
  asOf?: Date;
}

/** What items to list: live ones, unless these say otherwise. All pages are judged as of `asOf`, or as
 * of the time of the first. */
export interface ItemFilters extends AsOf {
  /** Expired ones, too. */
  showExpired?: boolean;
  /** Only expired ones. */
  expiredOnly?: boolean;
  /** Only those of this partition, which may be the empty one. */
  partitionKey?: v1.Bytes;
  /** Only those that expire from this second on. */
  expireTimeFrom?: Seconds;
  /** Only those that expire before this second. */
  expireTimeTo?: Seconds;
}

export interface ContainerFilters {
  /** Only those whose id begins with this. */
  idPrefix?: string;
  /** Only those that have a default_ttl. */
  ttlOnOnly?: boolean;
}

export interface ClientOptions {
  /** gRPC address: unix:/path or host:port. */
  address?: string;
  credentials?: ChannelCredentials;
  /** Of grpc-js, the first one outermost. They see every attempt of a call, every stream, and the
   * reports of usage. */
  interceptors?: Interceptor[];
  /** Deadline of checks and look-ups of one item, 1000 by default. */
  checkTimeoutMs?: number;
  /** Deadline of reports, 5000 by default. */
  reportTimeoutMs?: number;
  /** Deadline of other calls, 15000 by default. */
  adminTimeoutMs?: number;
}

/**
 * Client of one ttl-sidecar. Every failure of a call is a SidecarError; a value that its field cannot
 * take is a TypeError or a RangeError, and nothing is sent.
 *
 * Every call has a deadline, repeats included; on streams it is the time until a message is answered.
 * Until then a call waits for a sidecar that is away or restarts: reads, holds, acknowledgements, touches,
 * and reports in which every entry has a sequence, are sent again when their fate is not known; other
 * reports when the sidecar refused them; changes, and usage, only if nothing was sent. Reports and touches
 * that its full queue refused have 4 attempts. A stream that breaks is an error, except of events. Messages
 * that were answered have taken effect.
 *
 * track, untrack, touch and check take any number of entries, which are sent in order, 1000 at a time. The
 * first call that fails ends the method: what came before is applied.
 */
export class Client {
  constructor(options?: ClientOptions);
  readonly address: string;
  /** Ends calls and streams under way with CANCELLED, which every later call gets, too. */
  close(): void;

  /** Reports writes; durable when it resolves. One result per item. `adopted`: the store has had
   * them all along, so what is due already waits for a grace (TrackItemsRequest.adopted). */
  track(
    container: string,
    items: Iterable<Item>,
    options?: { adopted?: boolean },
  ): Promise<TrackResult[]>;
  /** Reports deletes that the store made by itself; durable when it resolves. */
  untrack(container: string, deletions: Iterable<Deletion>): Promise<UntrackResult[]>;
  /** Starts the countdown of items again, as of now, without a write in the store; durable when it
   * resolves. One answer per key. Items whose countdown has started within `unlessTouchedWithinMs`, whole
   * seconds, are left alone. FAILED_PRECONDITION unless the container has allowTouch. One that was sent
   * again may answer 'recent' for what it has touched itself. */
  touch(
    container: string,
    keys: Iterable<ItemKey>,
    options?: { unlessTouchedWithinMs?: number },
  ): Promise<Touched[]>;
  /** Which items are visible now? One answer per check. */
  check(container: string, checks: Iterable<Check>, options?: AsOf): Promise<Answer[]>;
  /** Batches of up to 1000; a reply for each, in order. One that was not replied to when the stream
   * broke may have been applied or not. */
  trackStream(
    container: string,
    batches: Iterable<Item[]> | AsyncIterable<Item[]>,
  ): AsyncGenerator<Reply<TrackResult>>;
  /** Batches of up to 10000; a reply for each, in order. */
  checkStream(
    container: string,
    batches: Iterable<Check[]> | AsyncIterable<Check[]>,
    options?: AsOf,
  ): AsyncGenerator<Reply<Answer>>;
  /** NOT_FOUND if the item is expired or not tracked. */
  getItem(container: string, id: v1.Bytes, partitionKey?: v1.Bytes): Promise<ItemView>;
  /** In the order of (length of partition key, partition key, id). */
  listItems(container: string, options?: ItemFilters): AsyncGenerator<ItemView>;

  /** Adds to what requests have used of the container's throughput; to be called for every request
   * that the store serves. Does not block. The sum is reported in the background once a second, from
   * the first use on also if it is zero. Never fails: what could not be reported is added to the next
   * report, and `usageFailures` counts it. Usage after close() is not counted. */
  addUsage(container: string, requestUnits: number): void;
  /** Reports of addUsage() that the sidecar did not take. */
  readonly usageFailures: number;
  /** What requests have used in the last `periodMs`, reported immediately; to have usage summed up,
   * call addUsage(). */
  reportUsage(
    container: string,
    requestUnits: number,
    options?: { periodMs?: number; reporter?: string },
  ): Promise<void>;

  /** ALREADY_EXISTS if there is one. */
  createContainer(id: string, fields?: Omit<v1.ContainerInput, 'id'>): Promise<Container>;
  getContainer(id: string): Promise<Container>;
  /** In the order of ids. */
  listContainers(options?: ContainerFilters): AsyncGenerator<Container>;
  /** Sets the fields named in `paths`, in snake_case; one that is absent in `container` is removed.
   * `force`: also indexing mode NONE while holds stand, and no feed while it has subscriptions. */
  updateContainer(
    container: v1.ContainerInput & { id: string },
    paths: v1.ContainerPath[],
    options?: { force?: boolean },
  ): Promise<Container>;
  /** Acts on all items of the container at once. Absent: switches TTL off. */
  setDefaultTtl(id: string, defaultTtl: Seconds | null | undefined): Promise<Container>;
  /** What updateContainer() would do. Nothing is changed. */
  previewUpdate(
    container: v1.ContainerInput & { id: string },
    paths: v1.ContainerPath[],
    options?: { force?: boolean },
  ): Promise<v1.UpdateContainerResponse>;
  /** What creating it would do to the items of the store; the last message has `finished` set. Without
   * a deadline: it lasts as long as there are items to read. */
  previewContainer(
    container: v1.ContainerInput & { id: string },
  ): AsyncGenerator<v1.PreviewContainerResponse>;
  /** ABORTED if `etag` is neither empty nor the current one. `force`: also while holds stand or the feed has
   * subscriptions, which are deleted with it. */
  deleteContainer(id: string, etag?: string, options?: { force?: boolean }): Promise<void>;
  /** A snapshot of all containers, then every change. DEADLINE_EXCEEDED after a silence of five
   * heartbeats. `expireAt`: the caller evaluates expireAt; if false, containers with such items are
   * omitted. `showHeld`, `touch`: the caller checks items that are expired in containers with showHeld, or
   * that have or had allowTouch; if false, these are omitted. */
  watchContainers(options?: {
    heartbeatMs?: number;
    expireAt?: boolean;
    showHeld?: boolean;
    touch?: boolean;
  }): AsyncGenerator<v1.WatchContainersResponse>;

  /** The status of the sidecar and, if one is named, of a container: GetExpiryStatusResponse. */
  status(container?: string): Promise<v1.GetExpiryStatusResponse>;
  listStatuses(): AsyncGenerator<v1.ContainerExpiryStatus>;
  /** All that is known of an item, expired or not, and why it is not yet deleted. */
  explainItem(
    container: string,
    id: v1.Bytes,
    partitionKey?: v1.Bytes,
  ): Promise<v1.ExplainItemResponse>;
  /** Items whose delete has failed. */
  listStuckItems(container: string): AsyncGenerator<v1.StuckItem>;
  /** How many items of one container, or of all, will expire until `until`, in steps of `stepMs`,
   * and when the backlog will be deleted: for a day, in 24 steps, if not given. `defaultTtl`: as if
   * it were that of the one container. Nothing is changed. */
  forecast(
    container?: string,
    options?: { until?: Date; stepMs?: number; defaultTtl?: Seconds },
  ): Promise<v1.GetForecastResponse>;
  /** Whether a service of the sidecar's health service is SERVING: "startup", "readiness", "liveness",
   * or "" for the whole server. NOT_FOUND for a name that it does not know. Does not wait for a
   * sidecar that is away. */
  isServing(healthService?: string): Promise<boolean>;
  /** Of one container, or of all; TypeError if `container` is neither. */
  pauseDeletes(reason: string, container: string | { all: true }): Promise<v1.PauseState>;
  /** Lifts the pause of the same target, given as to pauseDeletes(). */
  resumeDeletes(container: string | { all: true }): Promise<void>;
  /** Declares the wall clock correct. */
  acceptClock(): Promise<v1.ClockStatus>;
  /** Releases the brake. ABORTED if `etag` is neither empty nor the current one. */
  confirmPolicy(container: string, etag?: string): Promise<Container>;
  /** Confirms the store with this id; deletes resume after a reconciliation. */
  confirmStore(storeId: string): Promise<void>;
  /** Sets the limit of all containers together, 0: no deletes, null: no limit. Gives the one in
   * force. */
  setMaxDeletesPerSecond(limit: number | null): Promise<number | undefined>;
  /** Restores the limit of the command line and returns it. */
  resetMaxDeletesPerSecond(): Promise<number | undefined>;

  /** Holds items: none of them is deleted until every hold on it has ended. Adds keys to the hold of this
   * name if there is one, and replaces its reason and end. No delete can remove the items when it
   * resolves; it waits for those in flight. If it fails, the hold may have been placed: call it again.
   * Keys are sent 1000 at a time. */
  placeHold(
    container: string,
    holdId: string,
    hold: { reason: string; until?: Date } & HoldScope,
  ): Promise<PlacedHold>;
  /** Ends a hold: expired items that no other one covers will be deleted. NOT_FOUND if there is none,
   * also because a call that failed without a response had ended it. */
  releaseHold(container: string, holdId: string): Promise<void>;
  /** Those of one container, or all, in the order of container and name. */
  listHolds(container?: string): AsyncGenerator<Hold>;
  /** The keys of a hold, in their order; none if it is not on keys. */
  listHeldKeys(container: string, holdId: string): AsyncGenerator<v1.HeldKey>;
  /** States that the holds of the container are complete; deletes that waited for it resume. */
  acceptHolds(container: string): Promise<void>;

  /** The events of up to 100 containers behind `token`, that of a response, or from now on; only those
   * of `kinds`, if there are any. Responses without events are heartbeats.
   *
   * A stream that breaks after its first response is opened again, for as long as it takes. A response
   * counts as dealt with when the next one is asked for; keep its token, to begin behind it in another
   * process. A silence of five heartbeats counts as a break.
   *
   * OUT_OF_RANGE: events are missing, because they were dropped (reason EVENTS_DROPPED) or the log is
   * another one (LOG_REPLACED). Begin without a token, wait for the first response, then compare
   * what you keep with the store. */
  watchEvents(
    containers: Iterable<string>,
    options?: { token?: v1.Bytes; kinds?: Iterable<v1.EventKind>; heartbeatMs?: number },
  ): AsyncGenerator<v1.WatchEventsResponse>;
  /** The events of a subscription that are not acknowledged, as watchEvents() does. They come again
   * when a stream is opened again.
   *
   * After OUT_OF_RANGE read the lastSequence of the subscription, compare what you keep with the store,
   * acknowledge that sequence, and begin again. */
  watchSubscription(
    container: string,
    name: string,
    options?: { heartbeatMs?: number },
  ): AsyncGenerator<v1.WatchEventsResponse>;
  /** States that all events of the subscription up to `sequence` are dealt with; durable when it
   * resolves to the sequence acknowledged now. `epoch` is that of the response that brought the event.
   * OUT_OF_RANGE with the reason SEQUENCE_NOT_SENT if the sidecar has restarted since: the events come
   * again, to be acknowledged then. */
  acknowledge(
    container: string,
    name: string,
    epoch: v1.Integer,
    sequence: v1.Integer,
  ): Promise<bigint>;
  /** Begins behind the last event. `kinds`: what it reads, all if absent. `consumer`: who alone may
   * acknowledge. `gate`: an item is deleted only after its EXPIRED is acknowledged; begins at the oldest
   * event that is kept, and no delete that was under way goes on when it resolves. `giveUpAfterMs`, whole
   * seconds: time of serving after which an item no longer waits; its PURGED then has the name in
   * givenUpSubscriptions. */
  createSubscription(
    container: string,
    name: string,
    options?: {
      kinds?: Iterable<v1.EventKind>;
      consumer?: string;
      gate?: boolean;
      giveUpAfterMs?: number;
    },
  ): Promise<Subscription>;
  getSubscription(container: string, name: string): Promise<Subscription>;
  /** Those of one container, or all, in the order of container and name. */
  listSubscriptions(container?: string): AsyncGenerator<Subscription>;
  /** Ends its streams, too, and no item waits for it any more. NOT_FOUND if there is none, also because a
   * call that failed without a response had deleted it. */
  deleteSubscription(container: string, name: string): Promise<void>;

  /** Of one container, or of all. */
  startReconciliation(
    container?: string,
    options?: { dryRun?: boolean },
  ): Promise<v1.Reconciliation>;
  getReconciliation(): Promise<v1.Reconciliation>;
  cancelReconciliation(): Promise<v1.Reconciliation>;
  /** Declares the tracked data complete. */
  trustData(): Promise<void>;
  /** The last message has `finished` set. Without a deadline, as all that lasts as long as there are
   * data to read. */
  verifyData(): AsyncGenerator<v1.VerifyDataResponse>;
  /** The data directory, piece by piece. Without a deadline. */
  backUpData(): AsyncGenerator<v1.BackUpDataResponse>;

  /** Any other method that is no stream, by its name in protos/ttl/v1, such as "GetSourcePosition". */
  call<Name extends keyof v1.Methods>(
    method: Name,
    request?: v1.Methods[Name]['request'],
  ): Promise<v1.Methods[Name]['response']>;
}

/** A field of a request that was refused: its path, and why. */
export interface FieldViolation {
  field: string;
  description: string;
}

/** What came with an error in grpc-status-details-bin. */
export interface ErrorDetails {
  reason?: string;
  domain?: string;
  metadata?: Readonly<Record<string, string>>;
  fieldViolations?: readonly FieldViolation[];
}

/** A call, or one message of a stream, that was refused or not answered. `message` names the field,
 * its value and the allowed values. */
export class SidecarError extends Error {
  constructor(code: status, message: string, retryAfterMs?: number, details?: ErrorDetails);
  readonly code: status;
  /** Such as "NOT_FOUND". */
  readonly codeName: string;
  /** How long to wait at least before trying again, if the sidecar says so. */
  readonly retryAfterMs: number | undefined;
  /** The cause, as a stable name (google.rpc.ErrorInfo), if the sidecar gives one. */
  readonly reason: string | undefined;
  /** The domain of the reason: "ttl-sidecar". */
  readonly domain: string | undefined;
  /** Additional data about the error, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that were refused (google.rpc.BadRequest). */
  readonly fieldViolations: readonly FieldViolation[];
}

/** Runs actions one after the other, in the order in which they came. */
export class Mutex {
  run<T>(action: () => T | Promise<T>): Promise<T>;
}

export interface Key {
  partitionKey: Buffer;
  id: Buffer;
}

/** Thrown by a store that has no capacity for deletes now: all of the batch is answered THROTTLED, and
 * none is sent for this container for so long, at most an hour. */
export class StoreBusy extends Error {
  constructor(retryAfterMs: number);
  readonly retryAfterMs: number;
}

/** What a store implements so that the sidecar can delete what has expired. The comparison that makes
 * a delete conditional is done here. */
export abstract class PrimaryStore {
  /** Most items that the sidecar is asked to send at once, 1000 by default; further ones are put off.
   * 0: no limit. */
  maxBatchItems: number;
  /** Whether read() and scan() give the expireAt of items that have one; false by default. Until then the
   * sidecar deletes no item with an expireAt. */
  knowsExpireAt: boolean;
  /** Identity of the data: the same after restarts, different after a restore elsewhere. */
  abstract readonly storeId: string;
  /** Runs `action`; until it has settled, nobody else changes the items under `keys`. */
  abstract exclusive<T>(container: string, keys: Key[], action: () => Promise<T>): Promise<T>;
  /** The item as stored, expired or not; undefined if there is none. Called within exclusive(). An
   * etag, if items have one, must change with every write. If it throws, or gives what is no Item, the
   * delete of this item has failed. */
  abstract read(container: string, key: Key): Item | undefined | Promise<Item | undefined>;
  /** Deletes them, durably and all or none. Called within exclusive(), after read(). Not to be reported
   * to the sidecar. Whatever it throws leaves the fate of the batch open. */
  abstract delete(container: string, keys: Key[]): void | Promise<void>;
  /** The next `limit` items of the container, or all that are left, behind `after` in an order of keys
   * that never changes; undefined: from the first on. Expired ones are included, and nothing is locked.
   * Optional: with it, the sidecar can reconcile and rebuild what it knows. */
  scan?(container: string, after: Key | undefined, limit: number): Item[] | Promise<Item[]>;
  /** The clock that stamps ts, in milliseconds since 1970. */
  nowMs(): number;
}

/** Serves `store` on a gRPC address, such as unix:/run/store/store.sock, until it is closed, which
 * gives calls under way a second to end. A socket that a killed server left is replaced; EADDRINUSE if
 * a server answers on it, or the path is not a socket. Whatever the store throws fails the call. */
export function serveStore(
  store: PrimaryStore,
  address: string,
  options?: { credentials?: ServerCredentials },
): Promise<{ close(): Promise<void> }>;

// Usage of throughput, added up and reported in the background. From its first use on a container is
// reported each time, also with zero, because missing reports count as full use. A container that
// the sidecar does not know, or whose report it refuses, is dropped until it is used again.
import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { SidecarError } from './errors.js';
import { requireMessage } from './messages.js';

const REPORT_INTERVAL_MS = 1000;

// The usage of further containers is not reported.
export const MAX_CONTAINERS = 10000;

// Longest period of a report. Usage that had to wait longer is reported at its average rate.
const MAX_PERIOD_MS = 60000;

const UNWANTED = [status.NOT_FOUND, status.INVALID_ARGUMENT];

function requireUsage(container, requestUnits) {
  if (typeof container !== 'string') throw new TypeError('container: a string is required');
  if (typeof requestUnits !== 'number') throw new TypeError('requestUnits: a number is required');
}

export class UsageReporter {
  #send;
  #intervalMs;
  #now;
  #reporter = randomBytes(8).toString('hex');
  #containers = new Map(); // container to { units, since }: of the last report that was taken
  #lastReport;
  #timer;
  #isStopped = false;
  failures = 0; // reports that the sidecar did not take

  // `send` makes one report, and rejects with a SidecarError; `now` is a clock in milliseconds.
  constructor(send, intervalMs = REPORT_INTERVAL_MS, now = () => performance.now()) {
    this.#send = send;
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  // Negative, infinite and NaN units are not counted.
  add(container, requestUnits) {
    requireUsage(container, requestUnits);
    if (this.#isStopped || !Number.isFinite(requestUnits) || requestUnits < 0) return;
    const known = this.#containers.get(container);
    if (known !== undefined) {
      known.units += requestUnits;
      return;
    }
    if (this.#containers.size >= MAX_CONTAINERS) return;
    requireMessage('ReportUsageRequest', { container });
    this.#lastReport ??= this.#now();
    // It was not used between the last report and now.
    this.#containers.set(container, { units: requestUnits, since: this.#lastReport });
    if (this.#timer === undefined) this.#arm();
  }

  // Usage since the last report is dropped.
  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  // Reports once. If the sidecar does not answer one report, the others are not sent; they are added
  // to the next ones.
  async reportAll() {
    const now = this.#now();
    const taken = [...this.#containers];
    for (const [container] of taken) this.#containers.set(container, { units: 0, since: now });
    this.#lastReport = now;
    let isReachable = true;
    for (const [container, usage] of taken) {
      if (this.#isStopped) return;
      isReachable = isReachable && (await this.#reportOne(container, usage, now));
      if (!isReachable) this.#putBack(container, usage);
    }
  }

  async #reportOne(container, { units, since }, now) {
    const periodMs = Math.max(1e-6, now - since);
    const period = Math.min(periodMs, MAX_PERIOD_MS);
    const requestUnits = units * (period / periodMs);
    try {
      await this.#send({ container, requestUnits, period, reporter: this.#reporter });
      return true;
    } catch (error) {
      // Of the sidecar, or of an interceptor: counted in usageFailures.
      this.failures += 1;
      if (!(error instanceof SidecarError && UNWANTED.includes(error.code))) return false;
      this.#containers.delete(container);
      return true;
    }
  }

  #putBack(container, { units, since }) {
    const present = this.#containers.get(container) ?? { units: 0 };
    this.#containers.set(container, { units: present.units + units, since });
  }

  #arm() {
    this.#timer = setTimeout(async () => {
      await this.reportAll();
      if (!this.#isStopped) this.#arm();
    }, this.#intervalMs);
    // The timer does not keep the process running.
    this.#timer.unref();
  }
}

// Client of ttl-sidecar, and what a store needs to serve it. index.d.ts is the contract.
export { Client } from './client.js';
export { SidecarError } from './errors.js';
export { Mutex } from './mutex.js';
export { PrimaryStore, StoreBusy, serveStore } from './store.js';

// A server that says what the test tells it.
import grpc from '@grpc/grpc-js';
import { Client } from 'ttl-sidecar';
import { serviceDefinition } from '../node_modules/ttl-sidecar/src/messages.js';
import { PATIENT, tempFolder } from './harness.js';

// Counts calls by method, and answers each as `answer` says.
export class ScriptedSidecar {
  static async start(t) {
    const script = new ScriptedSidecar();
    script.calls = {};
    script.address = `unix:${tempFolder(t)}/scripted.sock`;
    const server = new grpc.Server();
    for (const service of [
      'ItemService',
      'ContainerService',
      'ExpiryService',
      'FeedService',
      'HoldService',
      'MaintenanceService',
    ]) {
      const definition = serviceDefinition(service);
      const handlers = Object.keys(definition).map((name) => [
        name,
        (call, callback) => {
          script.calls[name] = (script.calls[name] ?? 0) + 1;
          script.answer(call, callback);
        },
      ]);
      server.addService(definition, Object.fromEntries(handlers));
    }
    await new Promise((resolve, reject) => {
      server.bindAsync(script.address, grpc.ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    t.after(() => server.forceShutdown());
    script.newClient = (options = PATIENT) => {
      const client = new Client({ address: script.address, ...options });
      t.after(() => client.close());
      return client;
    };
    return script;
  }

  failWith(code, metadata = {}) {
    this.answer = (call, callback) =>
      callback({ code, details: 'told so', metadata: grpc.Metadata.fromHttp2Headers(metadata) });
  }

  // Fails that way `times` times, then with NOT_FOUND.
  failFirst(times, code, metadata = {}) {
    let left = times;
    this.answer = (call, callback) => {
      const refusal = { code, metadata: grpc.Metadata.fromHttp2Headers(metadata) };
      callback(left > 0 ? refusal : { code: grpc.status.NOT_FOUND, details: 'in the end' });
      left -= 1;
    };
  }

  answerWith(response) {
    this.answer = (call, callback) => callback(null, response);
  }
}

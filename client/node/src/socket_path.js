// Makes way at the path of a Unix socket before a server binds it. A killed server leaves its
// socket file, on which bind() fails; a socket that is answered belongs to a server that runs.
import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import net from 'node:net';
import { dirname } from 'node:path';

// The path in a gRPC address such as unix:PATH or unix:///PATH; undefined for other schemes.
export function socketPath(address) {
  if (!address.startsWith('unix:')) return undefined;
  return address.replace(/^unix:(\/\/(?=\/))?/, '');
}

function inUse(message) {
  return Object.assign(new Error(message), { code: 'EADDRINUSE' });
}

function statOf(path) {
  return lstatSync(path, { throwIfNoEntry: false });
}

// Whether a server listens on the socket. A full queue of connections (EAGAIN) is one that listens.
function isAnswered(path) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path);
    const settle = (outcome) => {
      socket.destroy();
      outcome();
    };
    socket.once('connect', () => settle(() => resolve(true)));
    socket.once('error', (error) => {
      if (error.code === 'EAGAIN') settle(() => resolve(true));
      else if (['ECONNREFUSED', 'ENOENT'].includes(error.code)) settle(() => resolve(false));
      else settle(() => reject(error));
    });
  });
}

// Removes a socket at `path` that nobody answers on. Rejects with EADDRINUSE, and leaves the path
// as it is, if a server answers on it or if it is not a socket.
//
// Another process may do the same at the same time, and bind between our look and our removal. So
// the file is moved aside first, asked once more, and put back if it is answered after all.
export async function removeStaleSocket(path) {
  const found = statOf(path);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw inUse(`${path} is not a socket and will not be removed; give another path`);
  }
  if (await isAnswered(path)) throw inUse(`${path} is in use: a server answers on it`);
  const present = statOf(path);
  if (present === undefined) return;
  if (present.ino !== found.ino) throw inUse(`${path} is in use: another server is starting on it`);
  const aside = `${dirname(path)}/.${randomBytes(4).toString('hex')}`;
  renameSync(path, aside);
  const isTaken = await isAnswered(aside).catch(() => true);
  if (isTaken) linkSync(aside, path);
  unlinkSync(aside);
  if (isTaken) throw inUse(`${path} is in use: another server has just started on it`);
}

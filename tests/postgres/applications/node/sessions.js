// A web application with sessions in PostgreSQL, as express-session and connect-pg-simple show it.
// It knows nothing of ttl-postgres.
//
//   node sessions.js work     visitors come, stay or leave, until SIGTERM
//   node sessions.js prune    connect-pg-simple's own clean-up, once
//
// libpq's variables name the database.

import http from 'node:http';
import connectPgSimple from 'connect-pg-simple';
import session from 'express-session';
import pg from 'pg';
import { Work, sleepUntil } from './work.js';

const MAX_AGE = 3000;

const pool = new pg.Pool({ max: 8, connectionTimeoutMillis: 5000 });
pool.on('error', () => {});

// Remembers which sessions could not be touched: express-session answers the request all the same.
const notTouched = new Set();
class Store extends connectPgSimple(session) {
  touch(id, data, done) {
    super.touch(id, data, (error) => {
      if (error) notTouched.add(id);
      done?.(error);
    });
  }
}

const options = { pool, pruneSessionInterval: 1, errorLog: () => {} };
const store = new Store(process.argv[2] === 'prune' ? { ...options, pruneSessionInterval: false } : options);

function answer(request, response) {
  if (request.url === '/login') request.session.user = 'somebody';
  const body = JSON.stringify({ user: request.session.user ?? null });
  if (request.url !== '/login') return response.end(body);
  request.session.save((error) => {
    response.statusCode = error ? 503 : 200;
    response.end(body);
  });
}

const sessions = session({
  store, secret: 'secret', resave: false, saveUninitialized: false, rolling: true,
  cookie: { maxAge: MAX_AGE },
});
const server = http.createServer((request, response) => {
  sessions(request, response, (error) => {
    if (!error) return answer(request, response);
    response.statusCode = 503;
    response.end();
  });
});

// One browser: keeps its cookie beyond its end, as a thief would.
class Browser {
  #cookie;

  // When the session ends at the latest, in milliseconds: connect-pg-simple rounds up.
  end = 0;
  // Until when the session lives for certain.
  safe = 0;

  get id() { return decodeURIComponent(this.#cookie).slice('connect.sid=s:'.length).split('.')[0]; }

  async get(path) {
    const begin = Date.now();
    const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`,
      { headers: this.#cookie === undefined ? {} : { cookie: this.#cookie } });
    if (response.status !== 200) throw new Error('unavailable');
    const { user } = await response.json();
    for (const cookie of response.headers.getSetCookie()) this.#cookie = cookie.split(';')[0];
    this.end = Math.ceil((Date.now() + MAX_AGE) / 1000) * 1000;
    if (user !== null && !notTouched.has(this.id)) this.safe = begin + MAX_AGE;
    return user;
  }
}

// Logs in, leaves, and comes back when the session has ended.
async function leave(work) {
  const browser = new Browser();
  await browser.get('/login');
  work.did('logins');
  const { id, end } = browser;
  await sleepUntil(end);
  // Not even the table shows it: the query is the application's, without a condition on the time.
  const { rows } = await pool.query('SELECT sid FROM session WHERE sid = $1', [id]);
  if (rows.length > 0) work.complain(`session ${id} is visible after its end`);
  if (await browser.get('/') !== null) work.complain(`session ${id} is used after its end`);
  work.did('sessions that ended');
}

// Looks at a page a few times in each life of the session, and stays logged in.
async function stay(work, visitor) {
  const { safe } = visitor;
  if (await visitor.get('/') !== null) return work.did('sessions that stayed');
  if (Date.now() < safe) work.complain(`session ${visitor.id} has ended early`);
  notTouched.delete(visitor.id);
  await visitor.get('/login');
}

// The table itself, from second to second.
async function look(work) {
  const { rows } = await pool.query(
    'SELECT sid, expire, statement_timestamp() AS seen FROM session WHERE expire <= statement_timestamp()');
  for (const row of rows) work.complain(`${JSON.stringify(row)} is visible`);
  work.did('looks');
}

async function work() {
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const work = new Work();
  const visitor = new Browser();
  const steps = [work.repeat(300, () => stay(work, visitor)), work.repeat(50, () => look(work))];
  for (let i = 0; i < 10; ++i) steps.push(work.repeat(100, () => leave(work)));
  await Promise.all(steps);
  work.finish(['logins', 'sessions that ended', 'sessions that stayed', 'looks']);
}

function prune() {
  store.pruneSessions((error) => process.exit(error ? 1 : 0));
}

await { work, prune }[process.argv[2]]();

// A queue of jobs as the README of pg-boss shows it, with its archive of completed jobs. It knows
// nothing of ttl-postgres.
//
//   node jobs.js setup    makes pg-boss's schema
//   node jobs.js work     sends jobs and completes them, until SIGTERM
//   node jobs.js purge    pg-boss's own clean-up of its archive, once
//
// libpq's variables name the database, TTL_SECONDS the time for which the archive keeps a job.

import pg from 'pg';
import PgBoss from 'pg-boss';
import { Work } from './work.js';

const QUEUE = 'mail';
const ttl = Number(process.env.TTL_SECONDS);
const pool = new pg.Pool({ max: 8, connectionTimeoutMillis: 5000 });
pool.on('error', () => {});

const boss = new PgBoss({
  db: { executeSql: (text, values) => pool.query(text, values) },
  archiveCompletedAfterSeconds: 1,
  maintenanceIntervalSeconds: 1,
  deleteAfterSeconds: ttl,
});
boss.on('error', () => {});

async function setup() {
  await boss.start();
  await boss.stop({ graceful: false });
}

// Whatever the archive shows has not yet been in it for its time to live.
async function look(work) {
  const { rows } = await pool.query(
    `SELECT id, archivedon FROM pgboss.archive
     WHERE date_trunc('second', archivedon) + make_interval(secs => $1) <= statement_timestamp()`, [ttl]);
  for (const row of rows) work.complain(`${JSON.stringify(row)} is visible`);
  const { rows: [{ count }] } = await pool.query('SELECT count(*)::int FROM pgboss.archive');
  if (count > 0) work.did('looks at archived jobs');
}

async function work() {
  const work = new Work();
  await boss.start();
  await boss.work(QUEUE, { teamSize: 20, newJobCheckInterval: 100 }, async () => work.did('jobs done'));
  await Promise.all([
    work.repeat(50, () => boss.send(QUEUE, { to: 'somebody' })),
    work.repeat(50, () => look(work)),
    work.repeat(500, () => boss.archive()),
  ]);
  work.finish(['jobs done', 'looks at archived jobs']);
}

async function purge() {
  await boss.purge();
}

await { setup, work, purge }[process.argv[2]]();
process.exit(0);

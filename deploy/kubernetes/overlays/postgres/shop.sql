-- A database with an application's table, made when the volume is empty.
\getenv shop_password SHOP_PASSWORD
\getenv ttl_postgres_password TTL_POSTGRES_PASSWORD

CREATE ROLE shop_owner NOLOGIN;
CREATE TABLE sessions (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  ttl        integer,
  payload    text NOT NULL
);
ALTER TABLE sessions OWNER TO shop_owner;

-- The application owns nothing, so that row-level security holds for it.
CREATE ROLE shop LOGIN PASSWORD :'shop_password';
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO shop;

-- What ttl-postgres needs: to replicate, and to be a member of the role that owns the tables.
-- CREATE is for `ttl-postgres install` alone.
CREATE ROLE ttl_postgres LOGIN REPLICATION PASSWORD :'ttl_postgres_password';
GRANT shop_owner TO ttl_postgres;
GRANT CREATE ON DATABASE shop TO ttl_postgres;

/** The schema of a store, in a form that can be compared between two databases. */
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import type { Postgres } from '../../../collector/platform/postgres/pool.ts'

const ours = "'public'::regnamespace"

/** Each part of PostgreSQL's catalog by its name: rows of text, without object ids and the gaps of dropped columns. */
const postgresParts: Readonly<Record<string, string>> = {
  relations: `SELECT relname, relkind, relpersistence, relreplident, reloptions, relrowsecurity, relacl,
      pg_get_userbyid(relowner) AS owner, amname, obj_description(pg_class.oid, 'pg_class') AS comment,
      CASE relkind WHEN 'v' THEN pg_get_viewdef(pg_class.oid) WHEN 'i' THEN pg_get_indexdef(pg_class.oid) END AS definition
    FROM pg_class LEFT JOIN pg_am ON pg_am.oid = relam WHERE relnamespace = ${ours}`,
  columns: `SELECT relname, attname, row_number() OVER (PARTITION BY relname ORDER BY attnum) AS position,
      format_type(atttypid, atttypmod) AS type, attnotnull, attidentity, attgenerated, attstorage, attcompression,
      attstattarget, attcollation::regcollation::text AS collation, attacl, attoptions,
      pg_get_expr(adbin, adrelid) AS value, col_description(attrelid, attnum) AS comment
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = ${ours} AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped`,
  constraints: `SELECT conrelid::regclass::text AS relation, conname, contype, condeferrable, condeferred, convalidated,
      connoinherit, conindid::regclass::text AS index, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE connamespace = ${ours}`,
  indexes: `SELECT indexrelid::regclass::text AS index, indisunique, indisprimary, indimmediate, indisvalid,
      indisclustered, indisreplident, indnullsnotdistinct
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = ${ours}`,
  triggers: `SELECT tgname, tgenabled, pg_get_triggerdef(pg_trigger.oid) AS definition
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE relnamespace = ${ours} AND NOT tgisinternal`,
  functions: `SELECT pg_get_functiondef(oid) AS definition, pg_get_userbyid(proowner) AS owner, proacl,
      obj_description(oid, 'pg_proc') AS comment
    FROM pg_proc WHERE pronamespace = ${ours}`,
  sequences: `SELECT sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size,
      sequenceowner, last_value FROM pg_sequences WHERE schemaname = 'public'`,
  dependents: `SELECT classid::regclass::text AS kind, pg_describe_object(classid, objid, objsubid) AS object, deptype,
      pg_describe_object(refclassid, refobjid, refobjsubid) AS referenced
    FROM pg_depend WHERE classid = 'pg_class'::regclass
      AND objid IN (SELECT oid FROM pg_class WHERE relnamespace = ${ours} AND relkind = 'S')`,
  types: `SELECT typname, typtype FROM pg_type WHERE typnamespace = ${ours}`,
  grants: `SELECT defaclobjtype, defaclacl FROM pg_default_acl`,
  schemas: `SELECT nspname, nspacl FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'`,
  extensions: 'SELECT extname FROM pg_extension',
  rules: `SELECT rulename, tablename, definition FROM pg_rules WHERE schemaname = 'public'`,
  policies: `SELECT * FROM pg_policies WHERE schemaname = 'public'`,
  statistics: `SELECT stxname FROM pg_statistic_ext WHERE stxnamespace = ${ours}`,
}

/** The schema of a PostgreSQL database. */
export async function postgresSchema(postgres: Postgres): Promise<Record<string, string[]>> {
  const schema: Record<string, string[]> = {}
  for (const [part, query] of Object.entries(postgresParts)) {
    const { rows } = await postgres.query<{ row: string }>(
      `SELECT to_json(part)::text AS row FROM (${query}) AS part ORDER BY 1`,
    )
    schema[part] = rows.map(({ row }) => row)
  }
  return schema
}

/** The rows of all tables of a PostgreSQL database, without the times of migrations. */
export async function postgresRows(postgres: Postgres): Promise<Record<string, string[]>> {
  const { rows: tables } = await postgres.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = ${ours}
       AND relname NOT IN ('migrations', 'sql_functions') ORDER BY 1`,
  )
  const held: Record<string, string[]> = {}
  for (const { name } of tables) {
    const { rows } = await postgres.query<{ row: string }>(
      `SELECT to_json(stored)::text AS row FROM "${name}" AS stored ORDER BY 1`,
    )
    held[name] = rows.map(({ row }) => row)
  }
  return held
}

/** The schema of a ClickHouse database: of each table, view and dictionary its definition. */
export async function clickhouseSchema(clickhouse: ClickHouse): Promise<Record<string, string>> {
  const rows = await clickhouse.rows<{ name: string; definition: string }>({
    sql: `SELECT name, create_table_query AS definition FROM system.tables
          WHERE database = currentDatabase() ORDER BY name`,
    params: {},
  })
  const { database } = clickhouse
  return Object.fromEntries(
    rows.map(({ name, definition }) => [name, definition.replaceAll(database, 'footfall')]),
  )
}

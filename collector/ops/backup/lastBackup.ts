import type { Postgres } from '../../platform/postgres/pool.ts'

/** The newest backup, which PostgreSQL remembers for the operator page and for the backup before a migration. */
interface LastBackup {
  readonly backup_id: string
  /** A directory, or s3://BUCKET/PREFIX. */
  readonly place: string
  readonly created_at: string
  readonly complete_until: string | null
  /** When all its earlier objects were last read. */
  readonly verified_at: string
  readonly bytes: number
  readonly damaged_objects: number
}

export async function noteLastBackup(postgres: Postgres, backup: LastBackup): Promise<void> {
  const { backup_id, place, created_at, complete_until, verified_at, bytes, damaged_objects } =
    backup
  await postgres.query(
    `INSERT INTO last_backup (backup_id, place, created_at, complete_until, verified_at, bytes, damaged_objects)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (is_only) DO UPDATE SET backup_id = excluded.backup_id, place = excluded.place,
       created_at = excluded.created_at, completed_at = excluded.completed_at,
       complete_until = excluded.complete_until, verified_at = excluded.verified_at, bytes = excluded.bytes,
       damaged_objects = excluded.damaged_objects`,
    [backup_id, place, created_at, complete_until, verified_at, bytes, damaged_objects],
  )
}

/** Returns where the newest backup is; null if there is none. */
export async function readLastPlace(postgres: Postgres): Promise<string | null> {
  const { rows } = await postgres.query<{ place: string }>('SELECT place FROM last_backup')
  return rows[0]?.place ?? null
}

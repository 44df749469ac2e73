import { readShardMarks } from '../collectors.ts'
import type { Postgres } from '../postgres/pool.ts'

/**
 * The table of one shard's own events. With several shards, `events` is the Distributed table over all of
 * them.
 */
export const eventsOfShard = 'events_local'

/** How long a process may use what it knows about shards. A move waits longer for all processes. */
const knownMsMax = 2_000
/** How long a move waits until every process knows its last step. */
export const allKnowMs = knownMsMax * 2

/** The lease of the process that moves pixels or adds shards. */
export const changeLease = (database: string): string => `shards of ${database}`
/** While this lease is held, no process inserts events. */
export const pauseLease = (database: string): string => `inserts into ${database}`

/** A move of a pixel's events. Shards are numbered from 0. */
export interface Move {
  readonly pixel_id: string
  readonly from_shard: number
  readonly to_shard: number
  /** Whether `to_shard` has the copy that reads use. */
  readonly is_switched: boolean
}

interface Known {
  /** Null: the hash of its id tells each pixel's shard. */
  readonly version: number | null
  readonly isPaused: boolean
  readonly moves: readonly Move[]
}

/** Thrown before an insert that must be prepared again, because shards changed since its first try. */
export class PlacementChanged extends Error {}

/**
 * Tells on which shard the events of each pixel are (platform/decisions/0009). PostgreSQL stores it, and each process
 * reads it again after two seconds at most. Without added shards and moves, a hash decides.
 */
export class Placement {
  readonly #postgres: Postgres
  readonly #database: string
  readonly #shards: number
  readonly #hashOf: (pixelIds: readonly string[]) => Promise<number[]>
  #known: Promise<Known> | null = null
  #knownAt = -Infinity
  /** The shards of pixels in this version. */
  #places = new Map<string, number>()
  #placesOf: number | null = null

  /** `hashOf` returns the shards of pixels by their hash. */
  constructor(
    postgres: Postgres,
    {
      database,
      shards,
      hashOf,
    }: {
      database: string
      shards: number
      hashOf(pixelIds: readonly string[]): Promise<number[]>
    },
  ) {
    this.#postgres = postgres
    this.#database = database
    this.#shards = shards
    this.#hashOf = hashOf
  }

  /** Returns the shard of a pixel, from 0; undefined if it has no events, or this process lacks its shard. */
  async shardOf(pixelId: string): Promise<number | undefined> {
    const places = await this.#read(await this.#latest(), [pixelId])
    const place = places.get(pixelId)
    return place !== undefined && place < this.#shards ? place : undefined
  }

  /**
   * Returns the settings for reads of all shards. They hide the second copy of pixels that are being moved. No setting
   * is needed while the hash decides.
   */
  async settings(): Promise<Readonly<Record<string, string | number>> | undefined> {
    const { version, moves } = await this.#latest()
    if (version === null) return undefined
    // ClickHouse skips shards by the hash, which no longer tells where events are.
    const settings = { optimize_skip_unused_shards: 0 }
    return moves.length === 0
      ? settings
      : { ...settings, additional_table_filters: hidingCopies(moves) }
  }

  /**
   * Returns the shards for an insert of events of these pixels, and places new pixels. Pass the `version` of an earlier
   * try. Throws if inserts are paused. Throws PlacementChanged if shards have changed since that try.
   */
  async placesForInsert(
    pixelIds: readonly string[],
    version?: number | null,
  ): Promise<{ version: number | null; places: ReadonlyMap<string, number> }> {
    const known = await this.#latest()
    if (version !== undefined && known.version !== version)
      throw new PlacementChanged('shards have changed since the last try of this insert')
    if (known.isPaused) throw new Error('inserts wait while a shard is added or a pixel is moved')
    let places = await this.#read(known, pixelIds)
    const missing = pixelIds.filter((pixelId) => !places.has(pixelId))
    if (missing.length > 0) {
      await placePixels(this.#postgres, this.#database, missing)
      places = await this.#read(known, missing)
    }
    const far = [...places.values()].find((place) => place >= this.#shards)
    if (far !== undefined)
      throw new Error(
        `events belong to shard ${far + 1}, but CLICKHOUSE_SHARDS of this process names ${this.#shards}: restart it with all shards`,
      )
    return { version: known.version, places }
  }

  /** Returns the version of the places, which changes with each move; null while the hash decides. */
  async version(): Promise<number | null> {
    return (await this.#latest()).version
  }

  /**
   * Returns the shards, from 0, that may have events of the project with this id or pixel, and the version of the
   * placement. Null for a project without pixels, or if a pixel was moved meanwhile.
   */
  async shardsOfProject({
    projectId,
    pixelId,
  }: {
    projectId: string | null
    pixelId: string | null
  }): Promise<{ shards: ReadonlySet<number>; version: number | null } | null> {
    const known = await this.#latest()
    const { rows } = await this.#postgres.query<{ pixel_id: string }>(
      `WITH known AS (${allPixels}) SELECT pixel_id FROM known
       WHERE project_id = coalesce($1::uuid, (SELECT project_id FROM known WHERE pixel_id = $2))`,
      [projectId, pixelId],
    )
    if (rows.length === 0) return null
    const shardsOf = await this.#shardsOf(
      known,
      rows.map(({ pixel_id }) => pixel_id),
    )
    const shards = new Set(rows.flatMap(({ pixel_id }) => shardsOf(pixel_id)))
    const now = await readKnown(this.#postgres, this.#database)
    return now.version === known.version ? { shards, version: known.version } : null
  }

  /** Returns the watermarks of all collectors, if events of some shards wait (readShardMarks). */
  readMarks(): ReturnType<typeof readShardMarks> {
    return readShardMarks(this.#postgres, this.#database)
  }

  /**
   * Returns which of these projects may have events on some shards, from 0. These are projects with a pixel there,
   * deleted ones included, and projects without any pixel.
   */
  async projectsOn(
    shards: ReadonlySet<number>,
    projectIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const known = await this.#latest()
    const { rows } = await this.#postgres.query<{ project_id: string; pixel_id: string }>(
      `SELECT project_id, pixel_id FROM (${allPixels}) AS known WHERE project_id = ANY ($1)`,
      [projectIds],
    )
    const shardsOf = await this.#shardsOf(
      known,
      rows.map(({ pixel_id }) => pixel_id),
    )
    const isThere = (pixelId: string) => shardsOf(pixelId).some((shard) => shards.has(shard))
    const withPixels = new Set(rows.map(({ project_id }) => project_id))
    return new Set([
      ...projectIds.filter((projectId) => !withPixels.has(projectId)),
      ...rows.filter(({ pixel_id }) => isThere(pixel_id)).map(({ project_id }) => project_id),
    ])
  }

  /** Returns which shards, from 0, may have events of each of these pixels: both while one is being moved. */
  async #shardsOf(
    known: Known,
    pixelIds: readonly string[],
  ): Promise<(pixelId: string) => readonly number[]> {
    const places = await this.#read(known, pixelIds)
    return (pixelId) => {
      const place = places.get(pixelId)
      const moves = known.moves.filter(({ pixel_id }) => pixel_id === pixelId)
      return [
        ...(place === undefined ? [] : [place]),
        ...moves.flatMap(({ from_shard, to_shard }) => [from_shard, to_shard]),
      ]
    }
  }

  #latest(): Promise<Known> {
    const now = performance.now()
    if (!this.#known || now - this.#knownAt > knownMsMax) {
      this.#knownAt = now
      const known = readKnown(this.#postgres, this.#database)
      this.#known = known
      known.catch(() => {
        if (this.#known === known) this.#known = null
      })
    }
    return this.#known
  }

  /** Returns the places of pixels; pixels without one are missing from the result. */
  async #read(
    { version }: Known,
    pixelIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    if (this.#placesOf !== version) {
      this.#placesOf = version
      this.#places = new Map()
    }
    const places = this.#places
    const missing = pixelIds.filter((pixelId) => !places.has(pixelId))
    if (missing.length === 0) return places
    if (version === null) {
      const shards = await this.#hashOf(missing)
      for (const [index, pixelId] of missing.entries()) places.set(pixelId, shards[index]!)
      return places
    }
    const { rows } = await this.#postgres.query<{ pixel_id: string; shard: number }>(
      'SELECT pixel_id, shard FROM pixel_shards WHERE database = $1 AND pixel_id = ANY ($2)',
      [this.#database, missing],
    )
    for (const { pixel_id, shard } of rows) places.set(pixel_id, shard)
    return places
  }
}

/** All pixels, deleted ones included, whose events may stay. */
const allPixels =
  'SELECT project_id, pixel_id FROM pixels UNION ALL SELECT project_id, pixel_id FROM deleted_pixels'

async function readKnown(postgres: Postgres, database: string): Promise<Known> {
  const { rows } = await postgres.query<{
    version: number | null
    is_paused: boolean
    moves: Move[]
  }>(
    `SELECT
       (SELECT version FROM shard_placements WHERE database = $1) AS version,
       EXISTS (SELECT FROM leases WHERE name = $2 AND expires_at > now()) AS is_paused,
       (SELECT coalesce(jsonb_agg(move), '[]') FROM shard_moves AS move WHERE database = $1) AS moves`,
    [database, pauseLease(database)],
  )
  const { version, is_paused: isPaused, moves } = rows[0]!
  return { version, isPaused, moves }
}

/**
 * The condition for each shard's own events. `shardNum()` is the number of the shard, from 1, in a query of all shards.
 */
function hidingCopies(moves: readonly Move[]): string {
  const hidden = moves.map(({ pixel_id, from_shard, to_shard, is_switched }) => {
    const shard = is_switched ? from_shard : to_shard
    return `NOT (pixel_id = \\'${pixel_id}\\' AND shardNum() = ${shard + 1})`
  })
  return `{'${eventsOfShard}': '${hidden.join(' AND ')}'}`
}

/** Gives new pixels a shard, at random by the shards' weights. A pixel that has one keeps it. */
async function placePixels(
  postgres: Postgres,
  database: string,
  pixelIds: readonly string[],
): Promise<void> {
  // A shard with the weight w gets the least of its exponentially distributed numbers with a probability of w.
  await postgres.query(
    `INSERT INTO pixel_shards (database, pixel_id, shard)
     SELECT $1, pixel_id,
       (SELECT position FROM clickhouse_shards
        WHERE database = $1 AND weight > 0 AND pixel_id IS NOT NULL
        ORDER BY -ln(1 - random()) / weight LIMIT 1)
     FROM unnest($2::uuid[]) AS pixel_id
     ON CONFLICT (database, pixel_id) DO NOTHING`,
    [database, pixelIds],
  )
}

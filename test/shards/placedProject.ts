import { randomUUID, type UUID } from 'node:crypto'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { row } from '../spool/segments.ts'

/** Creates a project with a pixel on each of these shards, from 0. */
export async function createPlacedProject(
  postgres: Postgres,
  { placement }: ClickHouse,
  places: readonly number[],
) {
  const [organizationId, projectId] = [randomUUID(), randomUUID()]
  await postgres.query("INSERT INTO organizations (organization_id, name) VALUES ($1, 'Away')", [
    organizationId,
  ])
  await postgres.query(
    "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'Away')",
    [projectId, organizationId],
  )
  const pixels: UUID[] = []
  for (const place of places) {
    let pixelId = randomUUID()
    while ((await placement!.shardOf(pixelId)) !== place) pixelId = randomUUID()
    await postgres.query(
      "INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, 'Away')",
      [pixelId, projectId],
    )
    pixels.push(pixelId)
  }
  return {
    projectId,
    pixels,
    /** Rows of these ids for one of its pixels. */
    rows: (all: readonly string[], pixel = 0) =>
      all.map((id) => row(id, Date.now(), projectId, pixels[pixel])),
  }
}

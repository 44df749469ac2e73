import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { inject } from 'vitest'
import type { ImportFile } from '../../../../collector/audiences/lists/file/importFile.ts'
import {
  type ImportDeps,
  runImport,
} from '../../../../collector/audiences/lists/import/runImport.ts'
import type { RowCounts } from '../../../../collector/audiences/lists/imports.ts'
import { storeImport } from '../../../../collector/audiences/lists/imports.ts'
import type { Kind } from '../../../../collector/audiences/lists/kinds.ts'
import { readRejected } from '../../../../collector/audiences/lists/listRows.ts'
import { createList } from '../../../../collector/audiences/lists/lists.ts'
import { saveUpload } from '../../../../collector/audiences/lists/upload/saveUpload.ts'
import { openUploads } from '../../../../collector/audiences/lists/upload/uploads.ts'
import { type Allowance, createAllowance } from '../../../../collector/billing/allowance.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres } from '../../../../collector/platform/postgres/pool.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../../../harness/databases.ts'
import { storeOrganization, storeProject } from '../../../harness/owners.ts'

export interface FileOptions {
  format?: ImportFile['format']
  kind?: Kind
  column?: string
  /** The list that it is added to; a new one by default. */
  listId?: string
}

/** Imports files into lists of a project, in the stores that a test has. */
export function importInto(
  { postgres, clickhouse }: Pick<ImportDeps, 'postgres' | 'clickhouse'>,
  projectId: string,
  allowance: Pick<Allowance, 'takeForWork'> = createAllowance({
    postgres,
    perDay: 2_000,
    now: Date.now,
  }),
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'footfall-test-lists-'))
  const uploads = openUploads(dataDir, randomUUID())
  const deps: ImportDeps = { postgres, clickhouse, uploads, allowance }

  /** Stores a file as an upload: its import waits. */
  const upload = async (
    bytes: Buffer | string,
    { format = 'csv', kind = 'emails', column, listId }: FileOptions = {},
  ): Promise<{ listId: string; importId: string }> => {
    const importId = randomUUID()
    const parts = Readable.from([Buffer.from(bytes as string)], { objectMode: false })
    const file = { organizationId: randomUUID(), format, kind, column, bytes: parts }
    const saved = await saveUpload(uploads, importId, file)
    const list = listId ?? randomUUID()
    if (!listId) await createList(postgres, { listId: list, projectId, name: 'List', kind })
    await storeImport(postgres, { importId, listId: list, ...saved })
    return { listId: list, importId }
  }
  const rejectedOf = (listId: string, importId: string) =>
    readRejected(clickhouse.live, { listId, importId, after: 0, limit: 10_000_000 })

  return {
    uploads,
    deps,
    upload,
    rejectedOf,
    /** Stores a file and imports it: what became of its rows, and the lines that were rejected. */
    async importFile(bytes: Buffer | string, options: FileOptions = {}) {
      const { listId, importId } = await upload(bytes, options)
      const counts = (await runImport(deps, importId)) as RowCounts
      return { listId, importId, counts, rejected: await rejectedOf(listId, importId) }
    },
    removeFiles: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** Stores and a directory of uploads, without a service: a test runs its own imports. */
export async function openLists() {
  const clickhouse = openClickHouse(inject('clickhouseUrl'), await newClickHouseDatabase())
  const postgresUrl = await newPostgresDatabase()
  const postgres = openPostgres(postgresUrl, () => {})
  const [organizationId, projectId] = [randomUUID(), randomUUID()]
  await storeOrganization(postgres, organizationId, 'Lists')
  await storeProject(postgres, projectId, organizationId, 'Lists')
  const { removeFiles, ...importing } = importInto(
    { postgres, clickhouse: { live: clickhouse, test: clickhouse } },
    projectId,
  )
  return {
    postgres,
    postgresUrl,
    clickhouse,
    organizationId,
    projectId,
    ...importing,
    /** The members of a list, as texts, in the order of ClickHouse. */
    async membersOf(listId: string): Promise<string[]> {
      const rows = await clickhouse.rows<{ member: string }>({
        sql: `SELECT DISTINCT multiIf(company_domain != '', company_domain, hem_number != 0,
                lower(hex(reinterpretAsFixedString(hem_number))), toString(cookie_id)) AS member
              FROM list_members WHERE list_id = {listId:UUID}`,
        params: { listId },
      })
      return rows.map(({ member }) => member)
    },
    async close() {
      await clickhouse.close()
      await postgres.end()
      removeFiles()
    },
  }
}

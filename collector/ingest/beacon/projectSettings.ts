import type { Postgres } from '../../platform/postgres/pool.ts'
import { openMemoryTable, readsById } from './memoryTable.ts'

/** Settings of all projects in memory, so that a beacon queries no database. */
interface ProjectSettings<Compiled> {
  /** The settings of a project; undefined if it has none. */
  of(projectId: string): Compiled | undefined
  close(): Promise<void>
}

interface Kind<Stored, Compiled> {
  name: string
  /** SQL of the rows that meet a condition. */
  select: (condition: string) => string
  pageRows: number
  /** Called once for each row, when its project's first event comes. */
  compile: (stored: Stored) => Compiled
}

/**
 * Opens settings with openMemoryTable. Without a copy on disk they start empty, because storing unwanted events is
 * better than refusing all events.
 */
export async function openProjectSettings<Stored extends { project_id: string }, Compiled>(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
  { name, select, pageRows, compile }: Kind<Stored, Compiled>,
): Promise<ProjectSettings<Compiled>> {
  const read = async (condition: string, values: unknown[]) =>
    (await postgres.query<Stored>(select(condition), values)).rows
  const table = await openMemoryTable<Stored>(
    {
      url,
      name,
      isEmptyWithoutCopy: true,
      ...readsById('project_id', ({ project_id }) => project_id, pageRows, read),
    },
    copy,
  )
  const compiled = new WeakMap<Stored, Compiled>()
  return {
    of(projectId) {
      const stored = table.get(projectId)
      if (!stored) return undefined
      const settings = compiled.get(stored) ?? compile(stored)
      compiled.set(stored, settings)
      return settings
    },
    close: () => table.close(),
  }
}

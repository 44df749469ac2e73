import type { Config } from '../../config.ts'
import { counted } from '../../platform/counted.ts'
import { StartError } from '../../platform/startError.ts'
import { type WrittenBackup, writeBackup } from './backUp.ts'
import { bytesOfFiles, isSpooled } from './files.ts'
import { listBackups, objectsOf, readManifest } from './manifest.ts'
import { bytesOf, type ObjectWriter } from './objectStore.ts'
import { openObjectStore } from './openObjectStore.ts'
import { withBackups } from './withBackups.ts'

/** Runs `footfall-server backup [DIR]`, with or without a running service. */
export const backUp = (
  config: Config,
  directory: string | undefined,
  { verify = false }: { verify?: boolean } = {},
): Promise<void> =>
  withBackups(config, directory, async (source) => {
    const backup = await writeBackup(config, source, { verifies: verify })
    report(backup)
    console.log(
      `backup ${backup.id} in ${source.store.place} is complete. It contains keys and personal data: protect it like the stores.`,
    )
  })

function report({ manifest, writer, damagedBackups }: WrittenBackup): void {
  const { clickhouse, postgres, files, complete_until, created_at, verified_at } = manifest
  const rowsIn = (rows: readonly { rows: number }[]) =>
    counted(
      rows.reduce((sum, each) => sum + each.rows, 0),
      'row',
    )
  console.log(`PostgreSQL: ${counted(postgres.tables.length, 'table')}, ${rowsIn(postgres.tables)}`)
  console.log(
    `ClickHouse: ${counted(clickhouse.shards, 'shard')}, ${rowsIn(clickhouse.tables.flatMap(({ chunks }) => chunks))}`,
  )
  console.log(
    `files: ${bytesOfFiles(files)} bytes, of which ${bytesOfFiles(files.filter(isSpooled))} are events that were not shipped yet`,
  )
  console.log(`all events received before ${complete_until ?? 'the start'} are included`)
  console.log(
    `written: ${objects(writer.written)}; kept from earlier backups: ${objects(writer.reused)}`,
  )
  console.log(
    verified_at === created_at
      ? 'all kept objects were read and are intact'
      : `kept objects were last read at ${verified_at}; --verify reads them now`,
  )
  if (writer.damaged.length > 0)
    console.warn(
      `damaged objects of earlier backups, which this backup has replaced: ${writer.damaged.join(', ')}. Check the disk`,
    )
  if (damagedBackups.length > 0)
    console.warn(`these earlier backups stay damaged: ${damagedBackups.join(', ')}`)
}

const objects = ({ objects, bytes }: ObjectWriter['written']): string =>
  `${counted(objects, 'object')}, ${bytes} bytes`

/** Prints the backups of a store, the newest first. */
export async function printBackups(config: Config, directory: string | undefined): Promise<void> {
  const store = await openObjectStore(config, directory)
  try {
    const backups = await listBackups(store)
    if (backups.length === 0) console.log(`${store.place} contains no complete backup`)
    for (const backup of backups) {
      const manifest = await readManifest(store, backup)
      const bytes = objectsOf(manifest).reduce((sum, object) => sum + bytesOf(object), 0)
      console.log(
        `${backup.id}  complete until ${manifest.complete_until ?? '-'}  ${counted(manifest.clickhouse.shards, 'shard')}  ${bytes} bytes  Footfall ${manifest.version}`,
      )
    }
  } finally {
    store.close()
  }
}

/** Removes older backups and unused objects; nothing if one of the `keep` newest is damaged. */
export const pruneBackups = (
  config: Config,
  directory: string | undefined,
  keep: string,
): Promise<void> => {
  if (!/^[1-9]\d{0,5}$/.test(keep))
    throw new StartError(`--keep must be a whole number from 1, not "${keep}"`)
  return withBackups(config, directory, async ({ store, lease }) => {
    const backups = await listBackups(store)
    const kept = backups.slice(0, Number(keep))
    const needed = new Set<string>()
    for (const backup of kept)
      for (const object of objectsOf(await readManifest(store, backup))) needed.add(object)
    const unused = [...(await store.list('objects')).keys()].filter((name) => !needed.has(name))
    await lease.renew()
    const removed = backups.slice(kept.length)
    await store.remove(
      'backups',
      removed.map(({ file }) => file),
    )
    await store.remove('objects', unused)
    console.log(
      `removed ${counted(removed.length, 'backup')} and ${counted(unused.length, 'object')}; kept ${counted(kept.length, 'backup')}`,
    )
  })
}

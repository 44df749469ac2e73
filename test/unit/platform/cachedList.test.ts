import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCachedList } from '../../../collector/platform/cachedList.ts'
import { openDiskCache } from '../../../collector/platform/diskCache.ts'
import { waitFor } from '../../harness/service.ts'

interface Item {
  id: string
  text: string
}

let dataDir: string
let items: Map<string, Item>
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'footfall-kept-'))
  items = new Map()
  for (let n = 0; n < 3_000; n++) items.set(String(n), { id: String(n), text: 'x'.repeat(500) })
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const openList = () =>
  openCachedList<Item>(dataDir, 'items', {
    keyOf: ({ id }) => id,
    get: (id) => items.get(id),
    all: () => items.values(),
    size: () => items.size,
  })
const path = () => join(dataDir, 'kept', 'items.log')
const written = () => {
  const { ino, size } = statSync(path())
  return { ino, size }
}
/** A list with a snapshot on disk, and its content. */
const begun = async () => {
  const list = openList()
  list.begin()
  await waitFor('the snapshot', () => openList().read()?.length === items.size)
  return { list, snapshot: written() }
}

test('one change of a long list writes one line, and an item that is removed stays removed', async () => {
  const { list, snapshot } = await begun()
  items.set('7', { id: '7', text: 'changed' })
  list.changed('7')
  items.delete('8')
  list.changed('8')
  await list.close()
  const after = written()
  expect(after.ino).toBe(snapshot.ino)
  expect(after.size - snapshot.size).toBeLessThan(200)
  const read = new Map(
    openList()
      .read()!
      .map((item) => [item.id, item]),
  )
  expect(read).toEqual(items)
})

test('a line that is torn or damaged ends the list: what was written before it counts', async () => {
  const { list } = await begun()
  const before = openList().read()
  items.set('7', { id: '7', text: 'changed' })
  list.changed('7')
  await list.close()
  const whole = readFileSync(path())
  // Without its newline alone, a line is complete.
  for (let cut = 2; cut < 40; cut++) {
    writeFileSync(path(), whole.subarray(0, -cut))
    expect(openList().read()).toEqual(before)
  }
  const damaged = Buffer.from(whole)
  damaged[damaged.lastIndexOf('changed')]! ^= 1
  writeFileSync(path(), damaged)
  appendFileSync(path(), '00000000 {"removed":"9"}\n')
  expect(openList().read()).toEqual(before)
})

test('many changes of few items leave a file of bounded length', async () => {
  for (const id of items.keys()) if (Number(id) > 10) items.delete(id)
  const { list } = await begun()
  const line = written().size / items.size
  for (let n = 0; n < 20_000; n++) {
    list.changed('7')
    if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await list.close()
  expect(written().size).toBeLessThan(line * 2_000)
  expect(openList().read()).toEqual([...items.values()])
})

test('nothing is written before the list is complete, and what an earlier release wrote is read until then', async () => {
  const earlier = [{ id: '1', text: 'earlier' }]
  openDiskCache<Item[]>(dataDir, 'items').write(earlier)
  const list = openList()
  list.changed('1')
  await list.close()
  expect(openList().read()).toEqual(earlier)

  const { list: complete } = await begun()
  await complete.close()
  expect(openDiskCache(dataDir, 'items').read()).toBeUndefined()
  expect(openList().read()).toEqual([...items.values()])
})

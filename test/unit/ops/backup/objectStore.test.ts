import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ObjectWriter, readObject } from '../../../../collector/ops/backup/objectStore.ts'
import { openDirectoryStore } from '../../../../collector/ops/backup/openObjectStore.ts'

function openStore() {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-objects-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const store = openDirectoryStore(directory)
  const pathOf = (name: string) => join(directory, 'objects', name)
  const openWriter = async () => new ObjectWriter(store, await store.list('objects'))
  return { directory, store, pathOf, openWriter }
}

test('the same bytes are written once, and found by their identity', async () => {
  const { store, openWriter } = openStore()
  const first = await openWriter()
  expect(await first.find('events-1')).toBeUndefined()
  const name = await first.save('events-1', Buffer.from('rows'))
  expect(await first.save('events-1', Buffer.from('rows'))).toBe(name)
  expect(first.written).toEqual({ objects: 1, bytes: 4 })

  const second = await openWriter()
  expect(await second.find('events-1')).toBe(name)
  expect(await second.save('events-1', Buffer.from('rows'))).toBe(name)
  expect([second.written.objects, second.reused]).toEqual([0, { objects: 1, bytes: 4 }])
  expect(String(await readObject(store, 'objects', name))).toBe('rows')
})

test('an object that was cut off or never finished is written again', async () => {
  const { store, pathOf, openWriter } = openStore()
  const name = await (await openWriter()).save('events-1', Buffer.from('rows'))
  truncateSync(pathOf(name), 2)
  writeFileSync(`${pathOf('events-2.abc.4')}.draft`, 'ro')
  const writer = await openWriter()
  expect([await writer.find('events-1'), await writer.find('events-2')]).toEqual([
    undefined,
    undefined,
  ])
  expect(await writer.save('events-1', Buffer.from('rows'))).toBe(name)
  expect(String(await readObject(store, 'objects', name))).toBe('rows')
})

test('an object that another process removes during the backup fails the backup', async () => {
  const { store, openWriter } = openStore()
  const writer = await openWriter()
  const name = await writer.save('file', Buffer.from('rows'))
  await writer.requireComplete()
  await store.remove('objects', [name])
  await expect(writer.requireComplete()).rejects.toThrow('was removed from')
})

test('a store without a directory is empty, and reading creates none', async () => {
  const { directory, store } = openStore()
  expect([await store.list('objects'), await store.get('objects', 'x')]).toEqual([new Map(), null])
  expect(readdirSync(directory)).toEqual([])
})

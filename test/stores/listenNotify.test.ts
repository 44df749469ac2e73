import { expect, test } from 'vitest'
import { listenNotify } from '../../collector/platform/postgres/listenNotify.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { startPostgresProxy } from '../harness/postgresProxy.ts'
import { waitFor } from '../harness/service.ts'

test('a silent connection is detected: what was announced meanwhile is read, and what comes is heard', async () => {
  const url = await newPostgresDatabase()
  const postgres = openPostgres(url, () => {})
  const proxy = await startPostgresProxy(url, 'nothing is lost')
  const heard: string[] = []
  let loads = 0
  const listening = await listenNotify({
    url: proxy.url,
    channel: 'test_silence',
    everyMs: 200,
    async load() {
      loads++
    },
    changed: (payloads) => void heard.push(...payloads),
  })
  const announce = (payload: string) =>
    postgres.query('SELECT pg_notify($1, $2)', ['test_silence', payload])
  try {
    await announce('one')
    await waitFor('the first announcement', () => heard.includes('one'))
    expect(loads).toBe(1)

    proxy.goSilent()
    await announce('two')
    await waitFor('everything to be read anew', () => loads === 2)
    expect(heard).toEqual(['one'])
    await announce('three')
    await waitFor('what is announced afterwards', () => heard.includes('three'))
  } finally {
    await listening.close()
    await proxy.refuse()
    await postgres.end()
  }
})

test('a try that fails, or whose connection ends meanwhile, leaves no other connection behind', async () => {
  const url = await newPostgresDatabase()
  const postgres = openPostgres(url, () => {})
  const theirs =
    "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'footfall test_leak'"
  const listeners = async () => (await postgres.query(`SELECT pid ${theirs}`)).rowCount
  const endListeners = () => postgres.query(`SELECT pg_terminate_backend(pid) ${theirs}`)
  let loads = 0
  const listening = await listenNotify({
    url,
    channel: 'test_leak',
    async load() {
      loads++
      if (loads === 2) await endListeners()
      if (loads > 1 && loads < 5) throw new Error('too busy to be read from')
    },
    changed() {},
  })
  try {
    await endListeners()
    await waitFor('everything to be read', () => loads >= 5)
    await waitFor('one connection', async () => (await listeners()) === 1)
  } finally {
    await listening.close()
    await postgres.end()
  }
})

test('changes are heard between the steps of a reading that takes long, never during one', async () => {
  const url = await newPostgresDatabase()
  const postgres = openPostgres(url, () => {})
  const said: string[] = []
  let isLong = false
  const listening = await listenNotify({
    url,
    channel: 'test_steps',
    everyMs: 50,
    loadEveryMs: 100,
    async load(step) {
      if (!isLong || said.length > 0) return
      await step(async () => {
        await postgres.query("SELECT pg_notify('test_steps', 'a change')")
        await new Promise((resolve) => setTimeout(resolve, 500))
        said.push('first step')
      })
      await waitFor('the change', () => said.includes('a change'))
      await step(async () => void said.push('second step'))
    },
    changed: (payloads) => void said.push(...payloads),
  })
  try {
    isLong = true
    await waitFor('the reading', () => said.includes('second step'))
    expect(said).toEqual(['first step', 'a change', 'second step'])
  } finally {
    await listening.close()
    await postgres.end()
  }
})

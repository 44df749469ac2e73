import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { beaconOf, customEvent, postBeacon, receiptOf } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { type AccountSettings, type Caller, openAccounts } from '../../accounts/harness.ts'

const everybody = '00000000-0000-0000-0000-000000000000'

/** The service with two organizations, and people who visit their sites. */
export async function openPrivacy(settings: AccountSettings = {}) {
  const it = await openAccounts(settings)
  const clickhouse = openClickHouse(inject('clickhouseUrl'), it.clickhouseDatabase)
  const keys = new Map<string, Caller>()
  const openStranger = async () => {
    const opened = await it.openStranger()
    keys.set(opened.pixel, opened.key)
    return opened
  }
  const stranger = await openStranger()

  /** Sends one event of a browser with a key of the pixel's owner; how many were taken. Other senders see no opt-out. */
  const visit = async (pixel_id: string, cookie_id: string, more: object = {}): Promise<number> => {
    const events = [customEvent()]
    const beacon = beaconOf(it.service, events, { pixel_id, cookie_id, ...more })
    const key = keys.get(pixel_id) ?? it.key
    return (await receiptOf(await postBeacon(it.nextUrl(), beacon, key))).accepted
  }

  /** The browser's events as the key's owner reads them. */
  const eventsOf = async (key: Caller, cookie_id: string): Promise<{ hem: string | null }[]> =>
    (
      await it.done(
        key,
        `GET /api/v3/events/resolution_full_profile?filter=cookie_id:eq:${cookie_id}&select=hem,first_name`,
      )
    ).rows

  /** Whom the browser's events say it is, each once; none without events. */
  const hemsOf = async (key: Caller, cookie_id: string) => [
    ...new Set((await eventsOf(key, cookie_id)).map(({ hem }) => hem)),
  ]

  const shown = async (key: Caller, cookie_id: string, hems: (string | null)[]) => {
    await waitFor(
      `${hems.join()} for the cookie`,
      async () => JSON.stringify(await hemsOf(key, cookie_id)) === JSON.stringify(hems),
      30_000,
    )
  }

  /** Waits until figures know as many events of the browser as there are. */
  const figured = (cookie_id: string) =>
    waitFor(
      'figures of the cookie',
      async () => {
        const [found] = await clickhouse.rows<{ same: number }>({
          sql: `SELECT (SELECT count() FROM hits WHERE cookie_id = {cookie_id:UUID})
                  = (SELECT count() FROM events WHERE cookie_id = {cookie_id:UUID}) AS same`,
          params: { cookie_id },
        })
        return found!.same
      },
      120_000,
    )

  /** Somebody whom both organizations have identified, after an event at each. */
  const meet = async () => {
    const email = `${randomUUID()}@example.com`
    const somebody = { email, hem: hemOf(email), cookie: randomUUID() }
    for (const pixel of [it.demo.pixel_id, stranger.pixel]) {
      await waitFor(
        'the pixel',
        async () => (await visit(pixel, somebody.cookie, { hem: somebody.hem })) === 1,
      )
    }
    for (const key of [it.key, stranger.key]) await shown(key, somebody.cookie, [somebody.hem])
    return somebody
  }

  /** Adds a link to the operator's own graph. */
  const linkForAll = async (cookie: string, hem: string) => {
    await clickhouse.command({
      sql: `INSERT INTO identity_links (organization_id, cookie_id, hem, source, confidence, observed_at)
            VALUES ({everybody:UUID}, {cookie:UUID}, {hem:String}, 'loaded', 0.9, now())`,
      params: { everybody, cookie, hem },
    })
    await reloadIdentity(clickhouse)
  }

  /** Loads a person who has these two addresses. */
  const loadTwoAddresses = async (addresses: readonly [string, string]): Promise<void> => {
    const pte_person_id = randomUUID()
    const rows = addresses.map((address) =>
      JSON.stringify({ hem: hemOf(address), pte_person_id, business_email: address }),
    )
    await clickhouse.feed(
      { sql: 'INSERT INTO profiles FORMAT JSONEachRow', params: {} },
      Buffer.from(`${rows.join('\n')}\n`),
    )
    await reloadIdentity(clickhouse)
  }

  const countOf = async (
    table: string,
    where: string,
    params: Record<string, unknown>,
  ): Promise<number> => {
    const [found] = await clickhouse.rows<{ n: number }>({
      sql: `SELECT count() AS n FROM ${table} WHERE ${where}`,
      params,
    })
    return Number(found!.n)
  }

  return {
    ...it,
    clickhouse,
    stranger,
    openStranger,
    visit,
    eventsOf,
    hemsOf,
    shown,
    figured,
    meet,
    linkForAll,
    loadTwoAddresses,
    countOf,
    async close() {
      await clickhouse.close()
      await it.close()
    },
  }
}

export type Privacy = Awaited<ReturnType<typeof openPrivacy>>

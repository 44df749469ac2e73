/** The names and channels of origins: Google's rules for Analytics 4, evaluated by ClickHouse as figures do. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { firstEventSteps } from '../../collector/analytics/hits/firstEvents.ts'
import { firstEventFields } from '../../collector/events/query/sessionFields.ts'
import { referrer } from '../../collector/events/query/sessionSplit.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'

let clickhouse: ClickHouse
beforeAll(() => {
  clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
})
afterAll(() => clickhouse.close())

const columns = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'click_id_type',
  'referrer_host',
] as const
type Origin = Partial<Record<(typeof columns)[number], string>>

const projectId = '6a1c3a0e-1f6e-4d3e-9b0b-0d8f5c2c7a11'

/** The other columns from which a session has fields. */
const others = firstEventFields.filter(
  (name) => name !== 'source' && name !== 'channel' && !columns.some((column) => column === name),
)

/** Returns FROM of events with these origins, numbered by event_id. */
function fromEvents(origins: readonly Origin[]): string {
  const cells = origins.map(
    (origin, at) =>
      `(${at}, ${columns.map((name) => (origin[name] === undefined ? 'NULL' : `'${origin[name]}'`)).join(', ')}, 'shop.example')`,
  )
  return `FROM (
    SELECT *, toUUID('${projectId}') AS project_id, ${others.map((name) => `NULL AS ${name}`).join(', ')}
    FROM values('event_id UInt32, ${columns.map((name) => `${name} Nullable(String)`).join(', ')}, page_host Nullable(String)', ${cells.join(', ')})
  )`
}

const namesOf = (origins: readonly Origin[]): Promise<{ _source: string; _channel: string }[]> =>
  clickhouse.rows({
    sql: `WITH ${firstEventSteps(fromEvents(origins))} SELECT _source, _channel FROM first_events ORDER BY first_event_id`,
    params: {},
  })

async function beginVisits(
  hosts: readonly string[],
  transitHosts: readonly string[] = [],
): Promise<number[]> {
  const rows = await clickhouse.rows<{ begins: number }>({
    sql: `SELECT (${referrer}) > 0 AS begins ${fromEvents(hosts.map(link))} ORDER BY event_id`,
    params: { transitHosts },
  })
  return rows.map(({ begins }) => begins)
}

const tag = (utm_source?: string, utm_medium?: string, utm_campaign?: string): Origin => ({
  ...(utm_source !== undefined && { utm_source }),
  ...(utm_medium !== undefined && { utm_medium }),
  ...(utm_campaign !== undefined && { utm_campaign }),
})
const link = (referrer_host: string): Origin => ({ referrer_host })

const channels: readonly (readonly [Origin, string])[] = [
  [{}, 'Direct'],
  [tag('google', 'cpc', 'spring cross-network'), 'Cross-network'],
  [tag('amazon', 'cpc'), 'Paid shopping'],
  [tag('partner', 'ppc', 'shopping-2026'), 'Paid shopping'],
  [tag('google', 'cpc'), 'Paid search'],
  [tag('yahoo', 'paid-search'), 'Paid search'],
  [{ ...tag('google'), click_id_type: 'gclid' }, 'Paid search'],
  [{ ...tag('bing'), click_id_type: 'msclkid' }, 'Paid search'],
  [{ click_id_type: 'gbraid' }, 'Paid search'],
  [tag('adwords'), 'Paid search'],
  [tag('facebook_ads'), 'Paid social'],
  [tag('Reddit-Ads'), 'Paid social'],
  [tag('fbad'), 'Paid social'],
  [tag('threads'), 'Organic social'],
  [tag('yt-ads'), 'Paid video'],
  [tag('squads'), 'Unassigned'],
  [tag('facebook', 'retargeting'), 'Paid social'],
  [tag('tiktok', 'paid'), 'Paid social'],
  [tag('youtube', 'cpv'), 'Paid video'],
  [tag('youtube.com', 'cpm'), 'Paid video'],
  [tag('vimeo', 'ppc'), 'Paid video'],
  [tag('news.example', 'cpm'), 'Display'],
  [tag(undefined, 'banner'), 'Display'],
  [tag('partner', 'cpa'), 'Paid other'],
  [tag('etsy.com', 'referral'), 'Organic shopping'],
  [tag('partner', 'web', 'shop-window'), 'Organic shopping'],
  [tag('partner', 'web', 'eshop'), 'Organic shopping'],
  [tag('partner', 'web', 'workshop'), 'Unassigned'],
  [link('www.amazon.co.uk'), 'Organic shopping'],
  [tag('partner', 'social-media'), 'Organic social'],
  [link('l.instagram.com'), 'Organic social'],
  [link('stackoverflow.com'), 'Organic social'],
  [{ ...tag('newspage'), click_id_type: 'fbclid' }, 'Unassigned'],
  [tag('partner', 'video-ad'), 'Organic video'],
  [link('m.youtube.com'), 'Organic video'],
  [link('www.google.co.uk'), 'Organic search'],
  [link('uk.search.yahoo.com'), 'Organic search'],
  [link('cn.bing.com'), 'Organic search'],
  [tag('partner', 'organic'), 'Organic search'],
  [tag('partner', 'email'), 'Email'],
  [tag('e_mail', 'web'), 'Email'],
  [tag('newsletter-uk'), 'Email'],
  [link('mail.google.com'), 'Email'],
  [tag('partner', 'affiliate'), 'Affiliates'],
  [tag('partner', 'audio'), 'Audio'],
  [tag('sms'), 'SMS'],
  [tag('partner', 'sms'), 'SMS'],
  [tag('partner', 'web-push'), 'Mobile push notifications'],
  [tag('partner', 'mobile-app'), 'Mobile push notifications'],
  [tag('firebase', 'fcm'), 'Mobile push notifications'],
  [tag('partner', 'link'), 'Referral'],
  [link('partner.example'), 'Referral'],
  [tag('partner', 'qr-code'), 'Unassigned'],
  [link('chatgpt.com'), 'AI assistants'],
]

test('channels follow the rules of Google Analytics 4, with AI assistants', async () => {
  const found = await namesOf(channels.map(([origin]) => origin))
  expect(channels.map(([origin], at) => [origin, found[at]!._channel])).toEqual(channels)
})

const names: readonly (readonly [host: string, source: string, channel: string])[] = [
  ['www.google.de', 'Google', 'Organic search'],
  ['news.google.com', 'Google', 'Organic search'],
  ['docs.google.com', 'docs.google.com', 'Referral'],
  ['accounts.google.com', 'accounts.google.com', 'Referral'],
  ['google.github.io', 'google.github.io', 'Referral'],
  ['google.example.com', 'google.example.com', 'Referral'],
  ['yahoo.github.io', 'yahoo.github.io', 'Referral'],
  ['finance.yahoo.com', 'finance.yahoo.com', 'Referral'],
  ['search.yahoo.co.jp', 'Yahoo', 'Organic search'],
  ['yandex.com.tr', 'Yandex', 'Organic search'],
  ['disk.yandex.ru', 'disk.yandex.ru', 'Referral'],
  ['aws.amazon.com', 'aws.amazon.com', 'Referral'],
  ['smile.amazon.de', 'smile.amazon.de', 'Referral'],
  ['blog.naver.com', 'blog.naver.com', 'Organic social'],
  ['platform.openai.com', 'platform.openai.com', 'Referral'],
  ['pinterest.blogspot.com', 'pinterest.blogspot.com', 'Referral'],
  ['ar.pinterest.com', 'Pinterest', 'Organic social'],
  ['lm.facebook.com', 'Facebook', 'Organic social'],
  ['fosstodon.org', 'Mastodon', 'Organic social'],
  ['chat.deepseek.com', 'DeepSeek', 'AI assistants'],
  ['copilot.com', 'Microsoft Copilot', 'AI assistants'],
]

test('a brand is named by its hosts, not by every host with its name', async () => {
  const found = await namesOf(names.map(([host]) => link(host)))
  expect(found.map(({ _source, _channel }, at) => [names[at]![0], _source, _channel])).toEqual(
    names,
  )
})

test('pages of a sign-in or a payment begin no visit', async () => {
  const hosts = ['accounts.google.com', 'www.paypal.com', 'acme.okta.com', 'checkout.stripe.com']
  expect(await beginVisits([...hosts, 'docs.google.com'])).toEqual([...hosts.map(() => 0), 1])
  // Those of a project: a host, or all hosts of a site.
  const own = ['login.bank.example', 'login.docs.example', 'any.partner.com', 'other.docs.example']
  const entries = ['login.bank.example', 'login.docs.example', 'partner.com']
  const ofProject = (id: string) => entries.map((host) => `${id} ${host}`)
  expect(await beginVisits(own, ofProject(projectId))).toEqual([0, 0, 0, 1])
  const other = ofProject('00000000-0000-4000-8000-000000000000')
  expect(await beginVisits(own, other)).toEqual([1, 1, 1, 1])
})

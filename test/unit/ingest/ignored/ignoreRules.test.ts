import { describe, expect, test } from 'vitest'
import { findIgnored } from '../../../../collector/ingest/beacon/ignoredTraffic.ts'
import {
  compileIgnoreRules,
  ignoreFaults,
} from '../../../../collector/ingest/ignored/ignoreRules.ts'
import type { IgnoredTraffic } from '../../../../schemas/ignored.ts'

const rules = (traffic: Partial<IgnoredTraffic>) =>
  compileIgnoreRules({ ignored_networks: [], ignored_hosts: [], ignored_paths: [], ...traffic })
const ofPath = (pattern: string, path: string) =>
  rules({ ignored_paths: [pattern] }).settingOfPage(`https://shop.example${path}`) ===
  'ignored_paths'
const ofHost = (rule: string, url: string) =>
  rules({ ignored_hosts: [rule] }).settingOfPage(url) === 'ignored_hosts'

describe('networks', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.99/24', '203.0.113.1', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.128/25', '203.0.113.127', false],
    ['::ffff:203.0.113.0/120', '203.0.113.9', true],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['2001:db8::1', '2001:DB8:0::1', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['2001:db8:1::/48', '2001:db8:1:ffff::9', true],
    ['2001:db8:1::/48', '2001:db8:2::9', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['203.0.113.0/24', '2001:db8::1', false],
    ['2001:db8::/32', '203.0.113.1', false],
    ['203.0.113.0/24', 'unknown', false],
    ['203.0.113.0/24', '', false],
  ])('%s and %s: %s', (network, address, isIgnored) => {
    expect(rules({ ignored_networks: [network] }).ignoresAddress(address)).toBe(isIgnored)
  })

  test.each([
    '203.0.113.0/24',
    '10.0.0.0/8',
    'fc00::/7',
    '::1',
    '203.0.113.7',
    '::ffff:10.0.0.0/104',
  ])('%s is accepted', (network) => expect(ignoreFaults.ignored_networks(network)).toBeUndefined())

  test.each([
    '',
    ' 203.0.113.7',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.07',
    '0x7f.1',
    '203.0.113.0/33',
    '203.0.113.0/024',
    '203.0.113.0/-1',
    '203.0.113.0/24/8',
    '203.0.113.0/',
    '2001:db8::/129',
    'fe80::1%eth0',
    '::ffff:10.0.0.0/95',
    'office.example',
  ])('“%s” is refused with an example', (network) => {
    expect(ignoreFaults.ignored_networks(network)).toContain('such as 203.0.113.7, 203.0.113.0/24')
  })

  test.each(['0.0.0.0/0', '203.0.113.0/7', '2000::/3', '::/0'])(
    '%s is refused as too wide',
    (network) => {
      expect(ignoreFaults.ignored_networks(network)).toContain('/8 to /32 for IPv4')
    },
  )
})

describe('hosts', () => {
  test.each([
    ['staging.example.com', 'https://staging.example.com/a', true],
    ['Staging.Example.com', 'https://STAGING.example.com:8443/', true],
    ['staging.example.com', 'https://staging.example.com./', true],
    ['staging.example.com', 'https://x.staging.example.com/', false],
    ['staging.example.com', 'https://notstaging.example.com/', false],
    ['*.example.com', 'https://staging.example.com/', true],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://badexample.com/', false],
    ['*.example.com', 'https://example.com.evil.test/', false],
    ['bücher.example', 'https://xn--bcher-kva.example/', true],
    ['localhost', 'http://localhost:3000/', true],
    ['127.0.0.1', 'http://127.0.0.1:3000/', true],
    ['[::1]', 'http://[::1]:3000/', true],
    ['evil.test', 'https://evil.test@shop.example/', false],
    ['localhost', 'capacitor://LOCALHOST/a', true],
    ['localhost', '/relative', false],
    ['localhost', 'not a url', false],
  ])('%s and %s: %s', (host, url, isIgnored) => expect(ofHost(host, url)).toBe(isIgnored))

  test.each([
    '',
    '*',
    '*.',
    '**.example.com',
    'a.*.example.com',
    'https://example.com',
    'example.com/path',
    'example.com:8080',
    'user@example.com',
    'a b.example',
    'example.com?x',
    '*.127.0.0.1',
    '*.[::1]',
    '[::1',
    'exa%6dple.com',
    '.',
  ])('“%s” is refused with an example', (host) => {
    expect(ignoreFaults.ignored_hosts(host)).toContain(
      'such as staging.example.com or *.example.com',
    )
  })
})

describe('paths', () => {
  test.each([
    ['/preview', '/preview', true],
    ['/preview', '/preview/page?x=1', true],
    ['/preview', '/previews', false],
    ['/preview', '/blog/preview', false],
    ['/preview/', '/preview/page', true],
    ['/preview/', '/preview', false],
    ['/preview*', '/previews', true],
    ['/*/preview/*', '/en/preview/a/b', true],
    ['/*/preview/*', '/preview/a', false],
    ['*.pdf', '/files/a.pdf', true],
    ['*.pdf', '/files/a.pdf.html', false],
    ['/a*b*c', '/a-b-c', true],
    ['/a*b*c', '/a-c-b', false],
    ['/a*a', '/a', false],
    ['/a**a', '/aa', true],
    ['/büro', '/b%C3%BCro/1', true],
    ['/a/../b', '/b', true],
    ['/preview', '/x?next=/preview', false],
    ['/preview', '/x#/preview', false],
  ])('%s and %s: %s', (pattern, path, isIgnored) => expect(ofPath(pattern, path)).toBe(isIgnored))

  test.each(['', 'preview', 'https://example.com/', '/a?b', '/a#b', '\\a', '/a\nb', '?'])(
    '“%s” is refused with an example',
    (path) =>
      expect(ignoreFaults.ignored_paths(path)).toContain('such as /preview, /*/preview/* or *.pdf'),
  )

  test.each(['/', '*', '/*', '**', '*/', '/**', '/x/..'])(
    '“%s” is refused: it ignores every page',
    (path) => {
      expect(ignoreFaults.ignored_paths(path)).toContain('it ignores every page')
    },
  )

  test('hostile patterns and paths take linear time', () => {
    const hostile = [
      'a'.repeat(198),
      `${'a'.repeat(98)}b`,
      `b${'a'.repeat(98)}`,
      'a*'.repeat(98),
      'ab'.repeat(98),
    ]
    const { settingOfPage } = rules({
      ignored_paths: Array.from({ length: 100 }, (_, n) => `*${hostile[n % hostile.length]}*b`).map(
        (path) => path.slice(0, 200),
      ),
      ignored_hosts: Array.from({ length: 100 }, (_, n) => `*.${n}.example`),
    })
    const urls = [
      `https://x/${'a'.repeat(64_000)}`,
      `https://x/${'ab'.repeat(32_000)}c`,
      `https://${'a.'.repeat(32_000)}x/`,
    ]
    settingOfPage(urls[0])
    const before = process.threadCpuUsage()
    for (const url of urls) settingOfPage(url)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1_000)
  })
})

test('an entry that cannot be read ignores nothing, and costs the others nothing', () => {
  const { ignoresAddress, settingOfPage } = rules({
    ignored_networks: ['office', '203.0.113.7'],
    ignored_hosts: ['https://x', 'staging.example'],
    ignored_paths: ['preview', '/preview'],
  })
  expect([ignoresAddress('203.0.113.7'), ignoresAddress('203.0.113.8')]).toEqual([true, false])
  expect(settingOfPage('https://staging.example/')).toBe('ignored_hosts')
  expect(settingOfPage('https://x/preview')).toBe('ignored_paths')
  expect(settingOfPage('https://x/')).toBeUndefined()
})

describe('the parts of a beacon', () => {
  const sender = { ip: '203.0.113.7', userAgent: '', isVerifiedBackend: false }
  const person = { hem: 'a'.repeat(64), source: 'identify' } as const
  const complete = (url: string) => ({ event_type: 'custom', event_data: { url } })
  const staging = rules({ ignored_hosts: ['staging.example'] })

  test('each event is compared by its own page, complete or captured, identify included', () => {
    const events = [
      complete('https://staging.example/'),
      complete('https://shop.example/'),
      { type: 'identify', url: 'https://staging.example/' },
      { type: 'click', url: 'https://shop.example/' },
      null,
      { event_data: 'x' },
    ]
    const found = findIgnored(staging, { headers: {} }, sender, { events })
    expect([...found!.events]).toEqual([
      [0, 'ignored_hosts'],
      [2, 'ignored_hosts'],
    ])
    expect(
      findIgnored(staging, { headers: {} }, sender, { events: events.slice(3) }),
    ).toBeUndefined()
  })

  test.each([
    ['its Referer', { referer: 'https://staging.example/a' }, [], true],
    ['its Origin', { origin: 'https://staging.example' }, [], true],
    ['all of its events', {}, [complete('https://staging.example/')], true],
    [
      'some of its events',
      {},
      [complete('https://staging.example/'), complete('https://x/')],
      false,
    ],
    ['nothing', {}, [], false],
  ])(
    'the hem of a beacon belongs to the ignored page by %s: %j',
    (_by, headers, events, isIgnored) => {
      expect(findIgnored(staging, { headers }, sender, { events, person })?.hem ?? false).toBe(
        isIgnored,
      )
    },
  )

  test('an ignored network ignores everything, whatever the pages are', () => {
    const office = rules({
      ignored_networks: ['203.0.113.0/24'],
      ignored_hosts: ['staging.example'],
    })
    const events = [complete('https://staging.example/'), null, { type: 'identify' }]
    const found = findIgnored(office, { headers: {} }, sender, { events, person })!
    expect([...found.settings]).toEqual(['ignored_networks'])
    expect([found.events.size, found.hem]).toEqual([3, true])
  })
})

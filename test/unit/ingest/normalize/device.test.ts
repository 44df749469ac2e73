import { expect, test } from 'vitest'
import {
  cachedDevice,
  cachedDeviceBytes,
  readDevice,
} from '../../../../collector/ingest/normalize/device.ts'

test('user agents that strangers make up take at most 8 MiB; long ones count by their beginning', () => {
  const long = 'x'.repeat(14_000)
  for (let n = 0; n < 6_000; n++) cachedDevice(`${n} ${long}`)
  expect(cachedDeviceBytes()).toBeGreaterThan(7 * 1024 * 1024)
  expect(cachedDeviceBytes()).toBeLessThanOrEqual(8 * 1024 * 1024)
  const before = cachedDeviceBytes()
  expect(cachedDevice(`5999 ${long}`)).toBe(cachedDevice(`5999 ${long.slice(1)}`))
  expect(cachedDeviceBytes()).toBe(before)
}, 600_000)

const android = (model: string, more = 'Mobile ') =>
  `Mozilla/5.0 (Linux; Android 11; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 ${more}Safari/537.36`

test.each([
  [android('BRAVIA 4K GB ATV3 Build/RTT1.200903.002', ''), 'smarttv'],
  [android('AFTSSS Build/PS7223', ''), 'smarttv'],
  [android('MiTV-AXSO0'), 'smarttv'],
  [android('Chromecast', ''), 'smarttv'],
  [
    'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/87 Safari/537.36',
    'smarttv',
  ],
  [
    'HbbTV/1.1.1 (;;;;) Mozilla/5.0 (compatible; ANTGalio/3.0.2; Linux2.6.18) CE-HTML/1.0;',
    'smarttv',
  ],
  [android('43U800BU Build/PI', ''), 'smarttv'],
  [android('STV-40LED42S Build/N'), 'smarttv'],
  [android('Pixel 8'), 'mobile'],
  [android('Hisense Infinity H50'), 'mobile'],
  [android('Sharp Aquos P6'), 'mobile'],
  ['Dalvik/2.1.0 (Linux; U; Android 8.1.0; Redmi 5 Build/OPM1)', 'mobile'],
  [android('La Tab 72'), 'tablet'],
  [android('XiaoXin Pad 2022'), 'tablet'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36',
    'desktop',
  ],
])('%s is a %s', (userAgent, type) => {
  const { device_type, is_bot } = readDevice(userAgent)
  expect([device_type, is_bot]).toEqual([type, false])
})

test('a browser within an app of Android is not the old browser of Android', () => {
  const version = (of: string) => android('SM-G530F').replace('Chrome/120.0.0.0', of)
  expect(readDevice(version('Version/4.0 Chrome/30.0.0.0')).browser).toBe('Chrome WebView')
  expect(readDevice(version('Version/4.0')).browser).toBe('Android Browser')
})

test.each([
  'dv(iPh14,5);pr(UCBrowser/13.9.0.1727);ov(15_4_1);ss(390x844);bt(UC);pm(0);bv(0);nm(0);im(0);nt(1);',
  'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.0; Trident/4.0; chromeframe; SLCC1)',
  `${android('Redmi 5')},gzip(gfe)`,
])('the browser "%s" is no bot', (userAgent) => expect(readDevice(userAgent).is_bot).toBe(false))

test.each([
  'Discovery',
  'Radar_X1',
  'SCAN-10',
  'Catch Pro',
  'DETECTOR 5',
  'S. server',
  'M bot 54',
  'XBot_Senior',
  'S222 Build/CUBOT',
  'Spider 8',
])('the phone "%s" is no bot', (model) => expect(readDevice(android(model)).is_bot).toBe(false))

test.each([
  android('Nexus 5X Build/MMB29P').concat(
    ' (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  ),
  android('DiscoveryBot/1.0 https://bots.example'),
  android('Pixel 2 Build/OPD3; DuplexWeb-Google/1.0'),
  'curl/8.5.0',
])('%s is a bot', (userAgent) => expect(readDevice(userAgent).is_bot).toBe(true))

import type { Location } from '../../ingest/normalize/address.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'

/** A visitor of the sample shop, human or not, with the same browser on every visit. */
export interface SampleVisitor {
  cookieId: string
  userAgent: string
  clientIp: string
  /** The location is fixed, because the visitors' addresses are reserved ones. */
  location: Location
  /** Null for bots, which send no language. */
  language: string | null
  /** The visitor's index among the people of the sample's identity graph; null for most. */
  person: number | null
  isBot: boolean
  screen: { height: number; width: number }
  viewport: { height: number; width: number }
  latencyMs: number
}

const visitorsSeed = 20_260_101
const people = 160
const bots = 8

const desktops = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
]

const phones = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
]

const crawlers = [
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36',
]

const places = [
  ...['GB', 'GB', 'GB', 'GB', 'IE'].map((country) => ({ country, language: 'en-GB' })),
  ...['US', 'US', 'CA'].map((country) => ({ country, language: 'en-US' })),
  { country: 'DE', language: 'de-DE' },
  { country: 'FR', language: 'fr-FR' },
  { country: 'NL', language: 'nl-NL' },
  { country: 'JP', language: 'ja' },
]

const cities: Readonly<Record<string, readonly (readonly [region: string, city: string])[]>> = {
  GB: [
    ['England', 'London'],
    ['England', 'Manchester'],
    ['Scotland', 'Edinburgh'],
    ['England', 'Bristol'],
    ['England', 'Stoke-on-Trent'],
    ['Wales', 'Cardiff'],
  ],
  IE: [
    ['Leinster', 'Dublin'],
    ['Munster', 'Cork'],
  ],
  US: [
    ['New York', 'New York'],
    ['California', 'San Francisco'],
    ['Oregon', 'Portland'],
  ],
  CA: [
    ['Ontario', 'Toronto'],
    ['Quebec', 'Montreal'],
  ],
  DE: [
    ['Berlin', 'Berlin'],
    ['Bavaria', 'Munich'],
  ],
  FR: [
    ['Île-de-France', 'Paris'],
    ['Auvergne-Rhône-Alpes', 'Lyon'],
  ],
  NL: [
    ['North Holland', 'Amsterdam'],
    ['Utrecht', 'Utrecht'],
  ],
  JP: [
    ['Tokyo', 'Tokyo'],
    ['Kyoto', 'Kyoto'],
  ],
}

/** Addresses that RFC 5737 and RFC 3849 reserve for documentation. */
const clientIp = (random: Random) =>
  random.chance(0.2)
    ? `2001:db8:${random.integer(1, 0xffff).toString(16)}::${random.integer(1, 0xffff).toString(16)}`
    : `${random.pick(['192.0.2', '198.51.100', '203.0.113'])}.${random.integer(1, 254)}`

/** All visitors of the sample in a fixed order: people first, then bots. */
export const sampleVisitors: readonly SampleVisitor[] = makeVisitors(seededRandom(visitorsSeed))

function makeVisitors(random: Random): SampleVisitor[] {
  return Array.from({ length: people + bots }, (_, index) => makeVisitor(random, index))
}

/** Makes the visitor with this index; from `people` on it is a bot. */
function makeVisitor(random: Random, index: number): SampleVisitor {
  const isBot = index >= people
  const hasPhone = !isBot && random.chance(0.45)
  const screen = hasPhone
    ? random.pick([
        { height: 844, width: 390 },
        { height: 915, width: 412 },
      ])
    : random.pick([
        { height: 1080, width: 1920 },
        { height: 900, width: 1440 },
        { height: 864, width: 1536 },
      ])
  const { country, language } = isBot ? { country: 'US', language: null } : random.pick(places)
  const of = isBot ? [] : cities[country]!
  const [region, city] = of[index % of.length] ?? [null, null]
  return {
    cookieId: random.uuid(),
    userAgent: random.pick(isBot ? crawlers : hasPhone ? phones : desktops),
    clientIp: clientIp(random),
    location: { country, region, city },
    language,
    person: !isBot && random.chance(0.3) ? index : null,
    isBot,
    screen,
    viewport: { height: screen.height - (hasPhone ? 140 : 130), width: screen.width },
    latencyMs: random.integer(320, 900),
  }
}

/** Makes a person whom the identity graph does not know. */
export const makeStranger = (random: Random): SampleVisitor => ({
  ...makeVisitor(random, random.integer(0, people - 1)),
  person: null,
})

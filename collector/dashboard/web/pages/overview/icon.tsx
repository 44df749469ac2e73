import { countryName } from '../../format.ts'
import type { Dimension } from './dimensions.ts'

/** The version of the flags in their URLs, which the build sets. */
declare const FLAGS_VERSION: string
/** The name of the file with the icons of browsers and sources, which the build sets. */
declare const VALUE_ICONS: string

/** The browsers that have an icon of their own. */
const browsers = ['brave', 'chrome', 'firefox', 'opera', 'safari', 'vivaldi']

/** Sources with an icon of their own: the names of files, which are the names of sources. */
const sources = new Set([
  'baidu',
  'bluesky',
  'brave-search',
  'claude',
  'deepseek',
  'direct',
  'discord',
  'duckduckgo',
  'ecosia',
  'facebook',
  'gemini',
  'gmail',
  'google',
  'hacker-news',
  'instagram',
  'kagi',
  'mastodon',
  'mistral',
  'naver',
  'perplexity',
  'pinterest',
  'proton-mail',
  'qwant',
  'quora',
  'reddit',
  'snapchat',
  'startpage',
  'telegram',
  'threads',
  'tiktok',
  'tumblr',
  'twitch',
  'vimeo',
  'vk',
  'whatsapp',
  'x',
  'youtube',
])
/** Sources whose icon is an envelope. */
const mails = ['newsletter', 'outlook', 'yahoo-mail', 'gmx', 'web.de', 'yandex-mail']

/** The flag of a country, or the icon of a browser or source, from our own origin; nothing for other values. */
export function Icon({ dimension, value }: { dimension: Dimension; value: string }) {
  const name = iconOf(dimension, value)
  if (!name) return null
  if (dimension !== 'country')
    return (
      <svg class="icon" width="16" height="16" aria-hidden="true">
        <use href={`/dashboard/assets/${VALUE_ICONS}#${name}`} />
      </svg>
    )
  return (
    <img
      class="icon"
      src={`/dashboard/assets/${name}-${FLAGS_VERSION}.svg`}
      alt=""
      width={20}
      height={14}
      loading="lazy"
      onError={({ currentTarget }) => {
        currentTarget.hidden = true
      }}
    />
  )
}

/** A country with its flag. */
export const Country = ({ code }: { code: string }) => (
  <>
    <Icon dimension="country" value={code} /> {countryName(code)}
  </>
)

function iconOf(dimension: Dimension, value: string): string | null {
  if (dimension === 'country') return /^[A-Z]{2}$/.test(value) ? `flag-${value}` : null
  if (dimension === 'source') {
    const name = value.toLowerCase().replaceAll(' ', '-')
    return `source-${sources.has(name) ? name : mails.includes(name) ? 'email' : 'other'}`
  }
  if (dimension !== 'browser') return null
  const words = value.toLowerCase().split(' ')
  return `browser-${browsers.find((browser) => words.includes(browser)) ?? 'other'}`
}

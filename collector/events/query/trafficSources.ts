/**
 * Names of traffic sources and the kind of each site: Google's published list of Analytics 4
 * (schemas/lists/sourceCategories.json), with webmail and AI assistants added.
 * Sessions keep the names that they were written with. `TRUNCATE TABLE hits` makes the service write all of them again.
 */
import categoryList from '../../../schemas/lists/sourceCategories.json' with { type: 'json' }
import transitList from '../../../schemas/lists/transitHosts.json' with { type: 'json' }

export type SiteKind = 'search' | 'shopping' | 'social' | 'video' | 'email' | 'ai'

interface Site {
  readonly name: string
  readonly kind: SiteKind
  /** Hosts of the site, also after `www.`, `m.`, or a country: `docs.google.com` is not the search engine. */
  readonly hosts?: readonly string[]
  /** Registrable domains whose hosts all belong to the site. */
  readonly domains?: readonly string[]
  /** The name before a top-level domain, for sites with domains in many countries. */
  readonly brands?: readonly string[]
  /** Further values of utm_source. */
  readonly aliases?: readonly string[]
  /** Further values of utm_source that say that the click was paid, as an alias with `ads` does. */
  readonly ads?: readonly string[]
}

const site = (kind: SiteKind, name: string, where: Omit<Site, 'name' | 'kind'>): Site => ({
  kind,
  name,
  ...where,
})

const sites: readonly Site[] = [
  site('search', 'Google', {
    brands: ['google'],
    aliases: ['google'],
    ads: ['adwords', 'googleadwords'],
    hosts: ['com.google.android.googlequicksearchbox'],
  }),
  site('search', 'Bing', {
    hosts: ['bing.com'],
    aliases: ['bing'],
    ads: ['microsoftads', 'microsoft-ads', 'microsoft_ads'],
  }),
  site('search', 'DuckDuckGo', { hosts: ['duckduckgo.com'], aliases: ['duckduckgo', 'ddg'] }),
  site('search', 'Yahoo', { brands: ['yahoo'], aliases: ['yahoo'] }),
  site('search', 'Yandex', {
    brands: ['yandex'],
    hosts: ['ya.ru'],
    aliases: ['yandex'],
    ads: ['yandex.direct', 'yandexdirect', 'yandex_direct', 'yandex-direct'],
  }),
  site('search', 'Baidu', { hosts: ['baidu.com'], aliases: ['baidu'] }),
  site('search', 'Ecosia', { hosts: ['ecosia.org'], aliases: ['ecosia', 'ecosia.org'] }),
  site('search', 'Qwant', { hosts: ['qwant.com'], aliases: ['qwant'] }),
  site('search', 'Startpage', { hosts: ['startpage.com'], aliases: ['startpage'] }),
  site('search', 'Brave Search', { hosts: ['search.brave.com'], aliases: ['brave'] }),
  site('search', 'Kagi', { hosts: ['kagi.com'], aliases: ['kagi'] }),
  site('search', 'Naver', { hosts: ['naver.com'], aliases: ['naver'] }),
  site('search', 'Daum', { hosts: ['daum.net'], aliases: ['daum'] }),
  site('search', 'Seznam', { hosts: ['seznam.cz'], aliases: ['seznam'] }),
  site('search', 'Sogou', { hosts: ['sogou.com'], aliases: ['sogou'] }),
  site('search', '360 Search', { hosts: ['so.com'] }),
  site('search', 'Mojeek', { hosts: ['mojeek.com'] }),
  site('search', 'Swisscows', { hosts: ['swisscows.com'] }),
  site('search', 'AOL', { hosts: ['aol.com'], aliases: ['aol'] }),
  site('search', 'Ask', { hosts: ['ask.com'], aliases: ['ask'] }),
  site('search', 'MSN', { hosts: ['msn.com'], aliases: ['msn'] }),
  site('search', 'Petal Search', { hosts: ['petalsearch.com'] }),
  site('social', 'Facebook', {
    domains: ['facebook.com', 'fb.com', 'fb.me', 'messenger.com'],
    aliases: ['facebook', 'fb', 'meta'],
  }),
  site('social', 'Instagram', {
    domains: ['instagram.com'],
    aliases: ['instagram', 'ig'],
  }),
  site('social', 'Threads', { domains: ['threads.net', 'threads.com'], aliases: ['threads'] }),
  site('social', 'WhatsApp', { domains: ['whatsapp.com', 'wa.me'], aliases: ['whatsapp'] }),
  site('social', 'X', {
    domains: ['x.com', 'twitter.com', 't.co'],
    aliases: ['x', 'twitter'],
  }),
  site('social', 'LinkedIn', {
    domains: ['linkedin.com', 'lnkd.in'],
    aliases: ['linkedin'],
    hosts: ['com.linkedin.android'],
  }),
  site('video', 'YouTube', {
    domains: ['youtube.com', 'youtu.be'],
    aliases: ['youtube', 'yt'],
  }),
  site('video', 'Vimeo', { domains: ['vimeo.com'], aliases: ['vimeo'] }),
  site('social', 'TikTok', {
    domains: ['tiktok.com'],
    aliases: ['tiktok'],
  }),
  site('social', 'Reddit', {
    domains: ['reddit.com', 'redd.it'],
    aliases: ['reddit'],
  }),
  site('social', 'Pinterest', {
    brands: ['pinterest'],
    domains: ['pin.it'],
    aliases: ['pinterest'],
  }),
  site('social', 'Snapchat', {
    domains: ['snapchat.com'],
    aliases: ['snapchat', 'snap'],
  }),
  site('social', 'Bluesky', { domains: ['bsky.app'], aliases: ['bluesky', 'bsky'] }),
  site('social', 'Mastodon', {
    domains: [
      'mastodon.social',
      'mastodon.online',
      'joinmastodon.org',
      'mstdn.social',
      'mas.to',
      'fosstodon.org',
      'hachyderm.io',
      'infosec.exchange',
      'techhub.social',
      'troet.cafe',
    ],
    aliases: ['mastodon'],
  }),
  site('social', 'Telegram', {
    domains: ['t.me', 'telegram.org', 'telegram.me'],
    aliases: ['telegram'],
  }),
  site('social', 'Discord', { domains: ['discord.com'], aliases: ['discord'] }),
  site('social', 'Slack', { domains: ['slack.com'], aliases: ['slack'] }),
  site('social', 'Hacker News', { hosts: ['news.ycombinator.com'], aliases: ['hackernews', 'hn'] }),
  site('social', 'Quora', { domains: ['quora.com'], aliases: ['quora'] }),
  site('social', 'Tumblr', { domains: ['tumblr.com'], aliases: ['tumblr'] }),
  site('social', 'VK', { domains: ['vk.com', 'vkontakte.ru'], aliases: ['vk'] }),
  site('social', 'Odnoklassniki', { domains: ['ok.ru'] }),
  site('social', 'Weibo', { domains: ['weibo.com', 'weibo.cn'], aliases: ['weibo'] }),
  site('social', 'WeChat', { domains: ['wechat.com'], aliases: ['wechat'] }),
  site('social', 'XING', { domains: ['xing.com'], aliases: ['xing'] }),
  site('video', 'Twitch', { domains: ['twitch.tv'], aliases: ['twitch'] }),
  site('social', 'Line', { domains: ['line.me'], aliases: ['line'] }),
  site('video', 'Dailymotion', { domains: ['dailymotion.com'], aliases: ['dailymotion'] }),
  site('video', 'Netflix', { domains: ['netflix.com'], aliases: ['netflix'] }),
  site('shopping', 'Google Shopping', {
    hosts: ['shopping.google.com'],
    aliases: ['google shopping', 'googleshopping', 'google_shopping', 'google-shopping'],
  }),
  site('shopping', 'Amazon', {
    brands: ['amazon'],
    aliases: ['amazon'],
  }),
  site('shopping', 'eBay', { brands: ['ebay'], aliases: ['ebay'] }),
  site('shopping', 'Etsy', { hosts: ['etsy.com'], aliases: ['etsy'] }),
  site('shopping', 'Alibaba', { hosts: ['alibaba.com'], aliases: ['alibaba'] }),
  site('shopping', 'Walmart', { hosts: ['walmart.com', 'walmart.ca'], aliases: ['walmart'] }),
  site('shopping', 'Mercado Libre', { brands: ['mercadolibre'], aliases: ['mercadolibre'] }),
  site('shopping', 'Shopify', { hosts: ['shopify.com'], aliases: ['shopify'] }),
  site('email', 'Gmail', {
    hosts: ['mail.google.com', 'com.google.android.gm'],
    aliases: ['gmail'],
  }),
  site('email', 'Outlook', {
    domains: ['outlook.com'],
    hosts: ['outlook.live.com', 'outlook.office.com', 'outlook.office365.com'],
    aliases: ['outlook'],
  }),
  site('email', 'Yahoo Mail', { hosts: ['mail.yahoo.com', 'mail.yahoo.co.jp'] }),
  site('email', 'Proton Mail', { hosts: ['mail.proton.me'] }),
  site('email', 'GMX', { brands: ['gmx'] }),
  site('email', 'Web.de', { domains: ['web.de'] }),
  site('email', 'Yandex Mail', { hosts: ['mail.yandex.ru', 'mail.yandex.com'] }),
  site('email', 'Newsletter', {
    aliases: ['newsletter', 'email', 'e-mail', 'e_mail', 'e mail', 'mail'],
  }),
  site('ai', 'ChatGPT', {
    hosts: ['chatgpt.com', 'chat.openai.com'],
    aliases: ['chatgpt', 'openai'],
  }),
  site('ai', 'Claude', { hosts: ['claude.ai'], aliases: ['claude'] }),
  site('ai', 'Gemini', { hosts: ['gemini.google.com', 'bard.google.com'], aliases: ['gemini'] }),
  site('ai', 'Microsoft Copilot', {
    hosts: ['copilot.microsoft.com', 'copilot.cloud.microsoft', 'copilot.com'],
    aliases: ['copilot'],
  }),
  site('ai', 'Perplexity', { hosts: ['perplexity.ai', 'pplx.ai'], aliases: ['perplexity'] }),
  site('ai', 'DeepSeek', { hosts: ['deepseek.com', 'chat.deepseek.com'], aliases: ['deepseek'] }),
  site('ai', 'Mistral', { hosts: ['chat.mistral.ai'], aliases: ['mistral'] }),
  site('ai', 'Grok', { hosts: ['grok.com'], aliases: ['grok'] }),
  site('ai', 'Meta AI', { hosts: ['meta.ai'] }),
  site('ai', 'You.com', { hosts: ['you.com'] }),
  site('ai', 'Phind', { hosts: ['phind.com'] }),
  site('ai', 'Poe', { hosts: ['poe.com'] }),
]

const namesBy = (key: 'hosts' | 'domains' | 'brands' | 'aliases' | 'ads'): [string, string][] =>
  sites.flatMap((each) => (each[key] ?? []).map((text): [string, string] => [text, each.name]))

/** Names by host, registrable domain, brand, and value of utm_source. */
export const sourceNames = {
  hosts: namesBy('hosts'),
  domains: namesBy('domains'),
  brands: namesBy('brands'),
  aliases: [...namesBy('aliases'), ...namesBy('ads')],
}

/** Values of utm_source that say that the click was paid. */
export const paidSources: readonly string[] = namesBy('ads').map(([text]) => text)

/** The end of a value of utm_source that says that the click was paid: `fb-ads`, `redditads`. */
export const adsSuffix = '[-_ ]?ads?$'

/** The name of a source that another product names, such as "Youtube"; without one the text itself. */
export function sourceNamed(text: string): string {
  const lower = text.toLowerCase()
  return namesByText.get(lower) ?? namesByText.get(lower.replace(new RegExp(adsSuffix), '')) ?? text
}

const namesByText = new Map([
  ...(['domains', 'hosts', 'aliases', 'ads'] as const).flatMap(namesBy),
  ...sites.map(({ name }): [string, string] => [name.toLowerCase(), name]),
])

/** The kind of each source by its name, in lower case: of the sites above, and of Google's list. */
export const kindsBySource: readonly (readonly [source: string, kind: SiteKind])[] = [
  ...new Map([
    ...Object.entries(categoryList.categories).flatMap(([kind, sources]) =>
      sources.map((source): [string, SiteKind] => [source.replace(/^www\./, ''), kind as SiteKind]),
    ),
    ...sites.map(({ name, kind }): [string, SiteKind] => [name.toLowerCase(), kind]),
  ]),
]

/**
 * Hosts of sign-in and payment pages, and domains with such hosts only. A visitor who comes back from one continues the
 * visit.
 */
export const transit: { readonly hosts: readonly string[]; readonly domains: readonly string[] } =
  transitList

/** The advertisers of click ids, and whether their clicks are paid. */
export const clickIdSources: readonly { type: string; name: string; medium: string }[] = [
  ...['gclid', 'gbraid', 'wbraid'].map((type) => ({ type, name: 'Google', medium: 'cpc' })),
  { type: 'dclid', name: 'Google', medium: 'display' },
  { type: 'msclkid', name: 'Bing', medium: 'cpc' },
  // Facebook adds fbclid to unpaid links, too.
  { type: 'fbclid', name: 'Facebook', medium: 'social' },
  { type: 'ttclid', name: 'TikTok', medium: 'cpc' },
  { type: 'li_fat_id', name: 'LinkedIn', medium: 'cpc' },
  { type: 'twclid', name: 'X', medium: 'cpc' },
  { type: 'rdt_cid', name: 'Reddit', medium: 'cpc' },
  { type: 'ScCid', name: 'Snapchat', medium: 'cpc' },
  { type: 'epik', name: 'Pinterest', medium: 'cpc' },
  { type: 'yclid', name: 'Yandex', medium: 'cpc' },
]

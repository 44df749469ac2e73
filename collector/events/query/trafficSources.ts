/**
 * Names of traffic sources and the kind of each site, after the categories that Google publishes for the default channel
 * group of Analytics 4. Webmail and AI assistants are added.
 * After a change, raise `version` in analytics/rollup/runs.ts, so that days are counted again.
 */

export type SiteKind = 'search' | 'social' | 'email' | 'ai'

interface Site {
  readonly name: string
  readonly kind: SiteKind
  /** Complete hosts, which rank above domains. */
  readonly hosts?: readonly string[]
  /** Registrable domains whose hosts all belong to the site. */
  readonly domains?: readonly string[]
  /** The part before the public suffix, for sites with domains in many countries. */
  readonly brands?: readonly string[]
  /** Further values of utm_source. */
  readonly aliases?: readonly string[]
}

const site = (kind: SiteKind, name: string, where: Omit<Site, 'name' | 'kind'>): Site => ({
  kind,
  name,
  ...where,
})

const sites: readonly Site[] = [
  site('search', 'Google', {
    brands: ['google'],
    aliases: ['google', 'adwords', 'googleads', 'google-ads'],
    hosts: ['com.google.android.googlequicksearchbox'],
  }),
  site('search', 'Bing', { domains: ['bing.com'], aliases: ['bing', 'bingads', 'microsoft-ads'] }),
  site('search', 'DuckDuckGo', { domains: ['duckduckgo.com'], aliases: ['duckduckgo', 'ddg'] }),
  site('search', 'Yahoo', { brands: ['yahoo'], aliases: ['yahoo'] }),
  site('search', 'Yandex', { brands: ['yandex'], domains: ['ya.ru'], aliases: ['yandex'] }),
  site('search', 'Baidu', { domains: ['baidu.com'], aliases: ['baidu'] }),
  site('search', 'Ecosia', { domains: ['ecosia.org'], aliases: ['ecosia', 'ecosia.org'] }),
  site('search', 'Qwant', { domains: ['qwant.com'], aliases: ['qwant'] }),
  site('search', 'Startpage', { domains: ['startpage.com'], aliases: ['startpage'] }),
  site('search', 'Brave Search', { hosts: ['search.brave.com'], aliases: ['brave'] }),
  site('search', 'Kagi', { domains: ['kagi.com'], aliases: ['kagi'] }),
  site('search', 'Naver', { domains: ['naver.com'], aliases: ['naver'] }),
  site('search', 'Daum', { domains: ['daum.net'], aliases: ['daum'] }),
  site('search', 'Seznam', { domains: ['seznam.cz'], aliases: ['seznam'] }),
  site('search', 'Sogou', { domains: ['sogou.com'], aliases: ['sogou'] }),
  site('search', '360 Search', { domains: ['so.com'] }),
  site('search', 'Mojeek', { domains: ['mojeek.com'] }),
  site('search', 'Swisscows', { domains: ['swisscows.com'] }),
  site('search', 'AOL', { domains: ['aol.com'], aliases: ['aol'] }),
  site('search', 'Ask', { domains: ['ask.com'], aliases: ['ask'] }),
  site('search', 'MSN', { domains: ['msn.com'], aliases: ['msn'] }),
  site('search', 'Petal Search', { domains: ['petalsearch.com'] }),
  site('social', 'Facebook', {
    domains: ['facebook.com', 'fb.com', 'fb.me', 'messenger.com'],
    aliases: ['facebook', 'fb', 'meta', 'facebookads'],
  }),
  site('social', 'Instagram', { domains: ['instagram.com'], aliases: ['instagram', 'ig'] }),
  site('social', 'Threads', { domains: ['threads.net', 'threads.com'], aliases: ['threads'] }),
  site('social', 'WhatsApp', { domains: ['whatsapp.com', 'wa.me'], aliases: ['whatsapp'] }),
  site('social', 'X', { domains: ['x.com', 'twitter.com', 't.co'], aliases: ['x', 'twitter'] }),
  site('social', 'LinkedIn', {
    domains: ['linkedin.com', 'lnkd.in'],
    aliases: ['linkedin'],
    hosts: ['com.linkedin.android'],
  }),
  site('social', 'YouTube', { domains: ['youtube.com', 'youtu.be'], aliases: ['youtube'] }),
  site('social', 'Vimeo', { domains: ['vimeo.com'], aliases: ['vimeo'] }),
  site('social', 'TikTok', { domains: ['tiktok.com'], aliases: ['tiktok'] }),
  site('social', 'Reddit', { domains: ['reddit.com', 'redd.it'], aliases: ['reddit'] }),
  site('social', 'Pinterest', {
    brands: ['pinterest'],
    domains: ['pin.it'],
    aliases: ['pinterest'],
  }),
  site('social', 'Snapchat', { domains: ['snapchat.com'], aliases: ['snapchat'] }),
  site('social', 'Bluesky', { domains: ['bsky.app'], aliases: ['bluesky', 'bsky'] }),
  site('social', 'Mastodon', {
    domains: ['mastodon.social', 'joinmastodon.org'],
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
  site('social', 'Twitch', { domains: ['twitch.tv'], aliases: ['twitch'] }),
  site('social', 'Line', { domains: ['line.me'], aliases: ['line'] }),
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
  site('ai', 'ChatGPT', { domains: ['chatgpt.com', 'openai.com'], aliases: ['chatgpt', 'openai'] }),
  site('ai', 'Claude', { domains: ['claude.ai'], aliases: ['claude'] }),
  site('ai', 'Gemini', { hosts: ['gemini.google.com', 'bard.google.com'], aliases: ['gemini'] }),
  site('ai', 'Microsoft Copilot', {
    hosts: ['copilot.microsoft.com', 'copilot.cloud.microsoft'],
    aliases: ['copilot'],
  }),
  site('ai', 'Perplexity', { domains: ['perplexity.ai'], aliases: ['perplexity'] }),
  site('ai', 'DeepSeek', { domains: ['deepseek.com'], aliases: ['deepseek'] }),
  site('ai', 'Mistral', { hosts: ['chat.mistral.ai'], aliases: ['mistral'] }),
  site('ai', 'Grok', { domains: ['grok.com'], aliases: ['grok'] }),
  site('ai', 'Meta AI', { domains: ['meta.ai'] }),
  site('ai', 'You.com', { domains: ['you.com'] }),
  site('ai', 'Phind', { domains: ['phind.com'] }),
  site('ai', 'Poe', { domains: ['poe.com'] }),
]

const namesBy = (key: 'hosts' | 'domains' | 'brands' | 'aliases'): [string, string][] =>
  sites.flatMap((each) => (each[key] ?? []).map((text): [string, string] => [text, each.name]))

/** Names by complete host, registrable domain, part before the public suffix, and value of utm_source. */
export const sourceNames = {
  hosts: namesBy('hosts'),
  domains: namesBy('domains'),
  brands: namesBy('brands'),
  aliases: namesBy('aliases'),
}

/** The name of a source that another product names, such as "Youtube"; without one the text itself. */
export const sourceNamed = (text: string): string => namesByText.get(text.toLowerCase()) ?? text

const namesByText = new Map([
  ...(['domains', 'hosts', 'aliases'] as const).flatMap(namesBy),
  ...sites.map(({ name }): [string, string] => [name.toLowerCase(), name]),
])

/** The names of the sites of a kind. */
export const namesOfKind = (kind: SiteKind): string[] =>
  sites.filter((each) => each.kind === kind).map(({ name }) => name)

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

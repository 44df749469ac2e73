/** One table of names: what other products call browsers, systems, kinds of devices and missing values. */
import { type ProductRecord, present, textOf } from './product.ts'

/** Words for a missing value, also in the languages in which Matomo translates them. */
const missing = new Set(
  `not set|none|null|nil|undefined|unknown|unk|other|others|n/a|na|direct|not provided|not available|unspecified|no value
  |unbekannt|inconnu|inconnue|desconocido|desconocida|desconhecido|desconhecida|sconosciuto|sconosciuta|onbekend|nieznany
  |nieznana|nieznane|okänd|okänt|ukendt|ukjent|tuntematon|neznámý|neznámé|neznáme|bilinmeyen|bilinmiyor|ismeretlen
  |necunoscut|άγνωστο|άγνωστος|неизвестно|неизвестный|невідомо|не определено|未知|不明|알 수 없음|غير معروف|לא ידוע`
    .split('|')
    .map((word) => word.trim()),
)

/** A value of another product without its words for a missing one: `(not set)`, `<Other>`, `Unknown`. */
export function known(value: unknown): string | undefined {
  const text = textOf(value)?.trim()
  if (!text || /^[-–—?_.\s]+$/.test(text)) return undefined
  const [, inner] = /^[(<[]+(.*?)[)>\]]+$/.exec(text) ?? []
  // In parentheses, "direct" is no source. As a plain word it may be a campaign's.
  if (inner !== undefined) return missing.has(inner.trim().toLowerCase()) ? undefined : text
  const word = text.toLowerCase()
  return word !== 'direct' && missing.has(word) ? undefined : text
}

/** A name that a person chose, without the product's words in brackets: a category may be called "Other". */
export const chosen = (text: string): string | undefined =>
  /^[(<]/.test(text) ? known(text) : text || undefined

/** Names in the order name: other names. Keys are compared without case. */
const table = (lines: string): ReadonlyMap<string, string> =>
  new Map(
    lines
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [name, others = ''] = line.split(':').map((part) => part.trim())
        return [name!, ...others.split(',')].map((each): [string, string] => [keyOf(each), name!])
      }),
  )

const keyOf = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')

/** The names of ua-parser-js, which reads the User-Agent of Footfall's own events. */
const browsers = table(`
  Chrome: chrome mobile, mobile chrome, chrome mobile ios, crios, chrome ios, google chrome, chrome browser
  Chrome WebView: chromium webview, android webview, webview, chrome mobile webview
  Chrome Headless: headless chrome, headlesschrome
  Chromium: chromium browser
  Firefox: mozilla firefox, firefox mobile, mobile firefox, firefox mobile ios, firefox ios, fxios
  Firefox Focus: focus, klar
  Safari: apple safari
  Mobile Safari: ios, safari mobile, safari mobile ios, ios safari
  WebKit: ios webview, safari (in app), mobile safari ui/wkwebview, apple webkit
  Edge: microsoft edge, edge chromium, edge ios, edge mobile, msedge, edge (chromium)
  IE: internet explorer, microsoft internet explorer, msie
  IEMobile: ie mobile, internet explorer mobile
  Opera: opera next, opera browser
  Opera Mini: opera mini ios
  Opera Mobi: opera mobile
  Opera GX:
  Opera Touch:
  Samsung Internet: samsung, samsung browser, samsungbrowser
  Android Browser: android, android runtime, stock android browser
  Yandex: yandex browser, yandexbrowser, yandex browser lite
  UCBrowser: uc browser, uc browser mini, uc browser turbo
  Silk: amazon silk, mobile silk
  MIUI Browser: miui, mi browser, xiaomi mi browser
  Huawei Browser: huawei browser mobile, huawei
  DuckDuckGo: duckduckgo privacy browser
  Brave: brave browser
  Vivaldi:
  Whale: naver whale, whale browser
  QQBrowser: qq browser, qq browser mobile, qq browser lite
  WeChat: micromessenger, wechat browser
  Coc Coc: coccoc, cốc cốc
  Maxthon:
  Konqueror:
  SeaMonkey:
  Pale Moon: palemoon
  Facebook: facebook app, fb app
  Instagram: instagram app
  GSA: google search app, google app
  TikTok: tiktok app
  Snapchat: snapchat app
  LinkedIn: linkedin app
  Pinterest: pinterest app
  Line: line app
  KAKAOTALK: kakaotalk
  Puffin:
  Sleipnir:
  Epiphany: gnome web
  Electron:
  BlackBerry: blackberry browser
`)

const systems = table(`
  Windows: windows nt, microsoft windows, win
  Windows Phone: windows phone os
  Windows Mobile: windows ce
  Mac OS: macos, mac, mac os x, macosx, os x, macintosh
  iOS: iphone os, ipados, ios ipad, apple ios
  Android: android os, android tv
  Linux: gnu/linux, linux gnu
  Chromium OS: chrome os, chromeos, google chrome os, cros
  Ubuntu:
  Debian:
  Fedora:
  Tizen: tizen os
  WebOS: webos tv, web os
  HarmonyOS: harmony os, openharmony
  KAIOS: kai os, kaios
  BlackBerry: blackberry os, blackberry tablet os
  Symbian: symbian os, symbianos
  FreeBSD: free bsd
  OpenBSD: open bsd
  NetBSD: net bsd
  Solaris: sun os, sunos
  PlayStation: playstation portable, playstation vita
  Nintendo: nintendo wii, nintendo switch
  Xbox:
  Fuchsia:
  watchOS:
  tvOS: apple tv
`)

/** Also as Matomo translates them. Its icons have names in English. */
const devices = table(`
  desktop: laptop, pc, computer, desktop computer, ultra wide, ultrawide, ordinateur, ordinateur de bureau
  desktop: bureau, escritorio, equipo de escritorio, ordenador, computador, computadora, área de trabalho, komputer
  desktop: komputer stacjonarny, pöytäkone, počítač, stolní počítač, masaüstü, настольный компьютер, компьютер, デスクトップ
  desktop: 桌面, 桌面设备, 台式机, 데스크톱
  mobile: smartphone, phablet, feature phone, featurephone, phone, mobile phone, mobiltelefon, handy
  mobile: téléphone, téléphone mobile, téléphone basique, teléfono inteligente, teléfono, teléfono móvil, telefone, telemóvel
  mobile: celular, telefono, telefon, smarttelefon, älypuhelin, chytrý telefon, akıllı telefon, смартфон
  mobile: телефон, スマートフォン, 智能手机, 手机, 스마트폰, portable media player
  tablet: tablette, tableta, tablet pc, surfplatta, nettbrett, tabletti, планшет, タブレット, 平板电脑, 平板, 태블릿
  smarttv: tv, smart tv, connected tv, television, fernseher, télévision, televisión, televisor, televisione, телевизор, テレビ, 电视
  console: spielkonsole, konsole, videoconsola, consola, console de jeux, gaming console, игровая консоль, игровая приставка, ゲーム機, 游戏机
  wearable: watch, smartwatch
  embedded: car browser, car, smart display, smart speaker, camera, peripheral, infotainment, xr
`)

/** The device columns of another product's values; names that the table lacks stay as they are. */
export function deviceOf(values: {
  browser?: unknown
  browserVersion?: unknown
  os?: unknown
  osVersion?: unknown
  device?: unknown
}): ProductRecord {
  const browser = withVersion(values.browser, browsers)
  const os = withVersion(values.os, systems)
  return present({
    browser: browser.name,
    browser_version: browser.name && (known(values.browserVersion) ?? browser.version),
    os: os.name,
    os_version: os.name && (known(values.osVersion) ?? os.version),
    device_type: deviceTypeOf(values.device),
  })
}

/** The kind of a device, if the table has it. */
export const deviceTypeOf = (value: unknown): string | undefined =>
  devices.get(keyOf(textOf(value) ?? ''))

export const browserOf = (value: unknown): string | undefined => withVersion(value, browsers).name
export const systemOf = (value: unknown): string | undefined => withVersion(value, systems).name

/** A name that the table may have only without the version after it: "Windows 10", "Android 14". */
function withVersion(
  value: unknown,
  names: ReadonlyMap<string, string>,
): { name?: string; version?: string } {
  const text = known(value)
  if (text === undefined) return {}
  const whole = names.get(keyOf(text))
  if (whole) return { name: whole }
  const [, name, version] = /^(.*\D)\s+(\d[\w.]*|XP|Vista|ME|CE|Server \d+.*)$/i.exec(text) ?? []
  const short = name && names.get(keyOf(name))
  return short ? { name: short, version: version! } : { name: text }
}

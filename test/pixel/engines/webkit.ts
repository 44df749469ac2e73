import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../collector/platform/localStores/supervise.ts'
import { waitFor } from '../../harness/service.ts'
import { type Engine, findExecutable, lostCommand, type Tab } from './engine.ts'

const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`

/** WebKitGTK has no headless mode: its MiniBrowser runs in a display that nobody sees. */
export async function startWebKit(): Promise<Engine> {
  const miniBrowser = findExecutable(
    'the MiniBrowser of webkit2gtk-driver',
    readdirSync(libraries)
      .filter((name) => name.startsWith('webkit2gtk-'))
      .sort()
      .reverse()
      .map((name) => join(libraries, name, 'MiniBrowser')),
  )
  const display = run('Xvfb', [
    '-displayfd',
    '1',
    '-screen',
    '0',
    '1280x1024x24',
    '-nolisten',
    'tcp',
  ])
  const [number] = await once(display.stdout!, 'data')
  const free: Session[] = []
  return {
    name: 'webkit',
    async newTab() {
      const session = free.pop() ?? (await newSession(miniBrowser, `:${`${number}`.trim()}`))
      return tabOf(session, async (isClean) => {
        if (isClean) free.push(session)
        else await session.end()
      })
    },
    async stop() {
      for (const session of free) await session.end()
      await stop(display)
    },
  }
}

/** Starts a program of /usr/bin that ends with this process. */
function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const path = findExecutable(program, [`/usr/bin/${program}`])
  const child = spawn(path, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

/** A driver that has not answered by then has lost the command, and what waited for it would wait for ever. */
const answerMsMax = 25_000

/** One command of the W3C WebDriver protocol. Throws what the driver says against it. */
async function send<T>(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  body: object = {},
): Promise<T> {
  const signal = AbortSignal.timeout(answerMsMax)
  const answer = await fetch(url, {
    method,
    signal,
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw signal.aborted ? new Error(`${lostCommand}: ${method} ${url}`) : error
  })
  const { value } = (await answer.json()) as { value: T & { error: string; message: string } }
  if (!answer.ok) throw new Error(`${method} ${url}: ${value.error}: ${value.message}`)
  return value
}

interface KeyAction {
  type: 'keyDown' | 'keyUp'
  value: string
}

// As the standard numbers them: https://www.w3.org/TR/webdriver2/#keyboard-actions
/** By which WebDriver names an element: https://www.w3.org/TR/webdriver2/#elements */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf'
const keysByName = { End: '\ue010', Enter: '\ue007', Control: '\ue009', Shift: '\ue008' }

const held = (value: string, actions: KeyAction[] = []): KeyAction[] => [
  { type: 'keyDown', value },
  ...actions,
  { type: 'keyUp', value },
]
const stroke = (value: string) => held(value)

/** Clicks in the middle of an element, so long between them. */
const mouse = (element: string, count: number, betweenMs = 0) => ({
  type: 'pointer',
  id: 'mouse',
  parameters: { pointerType: 'mouse' },
  actions: [
    { type: 'pointerMove', duration: 0, origin: { [elementKey]: element }, x: 0, y: 0 },
    ...Array.from({ length: count }, () => [
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
      { type: 'pause', duration: betweenMs },
    ]).flat(),
  ],
})

/** A driver and the browser that it has started, with one window: a driver has one session, and further tabs begin hidden. */
interface Session {
  send<T = void>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T>
  end(): Promise<void>
}

async function newSession(binary: string, display: string): Promise<Session> {
  const port = await freePort()
  const driver = run('WebKitWebDriver', [`--port=${port}`], {
    DISPLAY: display,
    GDK_BACKEND: 'x11',
  })
  const driverUrl = `http://127.0.0.1:${port}`
  await waitFor('WebKitWebDriver', () =>
    fetch(`${driverUrl}/status`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const { sessionId } = await send<{ sessionId: string }>('POST', `${driverUrl}/session`, {
    capabilities: {
      alwaysMatch: { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } },
    },
  })
  const session = `${driverUrl}/session/${sessionId}`
  return {
    send: (method, path, body) => send(method, `${session}/${path}`, body),
    async end() {
      await send('DELETE', session).catch(() => {})
      await stop(driver)
    },
  }
}

/**
 * The window of a session, whose browser costs more to start than most cases. A browser stores data by
 * origin, and each case has its own origins (stage.ts). So only cookies, which ignore ports, must be deleted.
 * `leave` receives whether the window equals a new one.
 */
async function tabOf(session: Session, leave: (isClean: boolean) => Promise<void>): Promise<Tab> {
  const post = <T = void>(path: string, body?: object) => session.send<T>('POST', path, body)
  const windows = () => session.send<string[]>('GET', 'window/handles')
  const setRect = () => post('window/rect', { x: 0, y: 0, width: 1000, height: 900 })
  const [window] = await windows()
  let origin: string | undefined
  /** Leaves a page without a pixel, and without cookies, in the one window that there was. */
  const clean = async () => {
    const opened = await windows()
    if (opened.length !== 1 || opened[0] !== window) return false
    if (origin) await post('url', { url: `${origin}/left` })
    await session.send('DELETE', 'cookie')
    return true
  }
  const keys = (actions: KeyAction[]) =>
    post('actions', { actions: [{ type: 'key', id: 'keyboard', actions }] })
  const elementOf = async (selector: string) => {
    const found = await post<Record<string, string>>('element', {
      using: 'css selector',
      value: selector,
    })
    return found[elementKey]!
  }
  await setRect()
  return {
    goto(url) {
      origin = new URL(url).origin
      return post('url', { url })
    },
    evaluate: (code) =>
      post('execute/sync', { script: 'return (0, eval)(arguments[0])', args: [code] }),
    async click(selector, count = 1, betweenMs = 0) {
      const id = await elementOf(selector)
      if (count === 1) return post(`element/${id}/click`)
      await post('actions', { actions: [mouse(id, count, betweenMs)] })
    },
    async clickHolding(key, selector) {
      const { actions, ...source } = mouse(await elementOf(selector), 1)
      const value = keysByName[key]
      const wait = { type: 'pause', duration: 0 }
      // Both devices act in step: the key is down before the first, up after the last of the mouse's.
      await post('actions', {
        actions: [
          {
            type: 'key',
            id: 'keyboard',
            actions: [
              { type: 'keyDown', value },
              ...actions.map(() => wait),
              { type: 'keyUp', value },
            ],
          },
          { ...source, actions: [wait, ...actions, wait] },
        ],
      })
    },
    async closeDialog() {
      await waitFor('a dialog', () =>
        post('alert/accept').then(
          () => true,
          () => false,
        ),
      )
    },
    type: (text) => keys([...text].flatMap(stroke)),
    press: (key) =>
      keys(key === 'Control+C' ? held(keysByName.Control, stroke('c')) : stroke(keysByName[key])),
    hide: () => post('window/minimize'),
    async show() {
      await setRect()
    },
    async close() {
      // The browser would end with its last window, and lose pending requests of the page.
      await post('window/new', { type: 'tab' })
      await session.send('DELETE', 'window')
    },
    dispose: async () => leave(await clean().catch(() => false)),
  }
}

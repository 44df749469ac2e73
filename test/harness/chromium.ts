import { existsSync } from 'node:fs'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'

const executablePath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path && existsSync(path),
)

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-blink-features=AutomationControlled',
]

/** A real Chromium that keeps to itself. */
export const launchChromium = ({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({ ...(executablePath && { executablePath }), args: [...flags, ...args], ...options })

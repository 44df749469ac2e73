import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../../collector/platform/paths.ts'
import type { Answering } from '../../harness/service.ts'
import type { Block } from './blocks.ts'

const run = promisify(execFile)

/** The rest of a reader's program around a snippet, by the module that the snippet imports. */
const surroundings: Record<string, (service: Answering) => string> = {
  'footfall-client': ({ demo }) =>
    `const key = '${demo.api_key}', secret = '${demo.api_secret}'; const check = () => {}`,
  'node:crypto': () =>
    `const email = ' Someone@Company.example ', secret = 'whatever'
     const check = () => [hem, signature].join(' ')`,
  standardwebhooks: () => {
    const key = Buffer.alloc(24, 'test')
    const body = JSON.stringify({ type: 'webhook.test', timestamp: 'now', data: {} })
    const at = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', key).update(`msg_1.${at}.${body}`).digest('base64')
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    }
    return `const secret = 'whsec_${key.toString('base64')}', body = '${body}', request = { headers: ${JSON.stringify(headers)} }
      const check = () => type`
  },
}

/** Runs a snippet for Node as a module of another package, and returns what it prints. */
export async function runProgram({ place, code }: Block, service: Answering): Promise<string> {
  const [, name] = /from '([^']+)'/.exec(code)!
  const around = surroundings[name!]
  if (!around) throw new Error(`${place}: the test knows no program around ${name}`)
  const directory = mkdtempSync(join(tmpdir(), 'footfall-program-'))
  try {
    symlinkSync(join(packageRoot, 'node_modules'), join(directory, 'node_modules'))
    const source = code
      .replaceAll('http://127.0.0.1:8787', service.url)
      // In a checkout the package has no copy of itself among its dependencies.
      .replaceAll("'footfall-client'", `'${join(packageRoot, 'dist/client/index.js')}'`)
    const file = join(directory, 'program.mjs')
    const checked = 'console.log(check() ?? "")'
    writeFileSync(file, `${around(service)}\n${source}\n${checked}\n`)
    return (await run(process.execPath, [file], { maxBuffer: 64 * 1024 * 1024 })).stdout
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

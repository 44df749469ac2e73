/** HAProxy and nginx with the configuration files as shipped: only addresses and ports are substituted. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { waitFor } from '../harness/service.ts'

export type ProxyName = 'haproxy' | 'nginx'

/** The addresses that a proxy publishes to the world and to insiders. */
export interface ProxyAddresses {
  world: string
  inside: string
}

export interface RunningProxy extends ProxyAddresses {
  name: ProxyName
  process: ChildProcess
}

/** Two free addresses for a proxy that starts later. */
export const freeAddresses = async (): Promise<ProxyAddresses> => ({
  world: `http://127.0.0.1:${await freePort()}`,
  inside: `http://127.0.0.1:${await freePort()}`,
})

/** The example's text with the addresses of here, and how it is started. */
type Launch = (
  directory: string,
  example: string,
) => { file: string; text: string; command: [string, ...string[]] }

const haproxy: Launch = (directory, text) => {
  const file = join(directory, 'haproxy.cfg')
  return { file, text, command: ['haproxy', '-db', '-f', file] }
}

const nginx: Launch = (directory, example) => {
  const file = join(directory, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const text = `daemon off; master_process off; pid ${directory}/nginx.pid; error_log stderr crit;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      ${example}
    }`
  return { file, text, command: ['nginx', '-p', directory, '-c', file] }
}

/** Where insiders connect to: of HAProxy a line, of nginx a directive. */
function insideOf(directive: string, port: string, certificate: string | undefined): string {
  const isNginx = directive === 'listen '
  const address = `${directive}127.0.0.1:${port}`
  if (certificate === undefined) return isNginx ? `${address};` : address
  return isNginx
    ? `${address} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${certificate};`
    : `${address} ssl crt ${certificate}`
}

const launches = { haproxy, nginx } satisfies Record<ProxyName, Launch>

/**
 * Starts a proxy of two services (or one, named twice), with its files in `directory`, and waits until it is ready. With
 * a file that has a certificate and its key, insiders use https, as the comments of the examples say.
 */
export async function startProxy(
  name: ProxyName,
  directory: string,
  [one, other]: readonly [string, string],
  addresses: ProxyAddresses,
  certificate?: string,
): Promise<RunningProxy> {
  const portOf = (url: string) => new URL(url).port
  const path = join(packageRoot, 'examples/deploy', name === 'nginx' ? 'nginx.conf' : 'haproxy.cfg')
  const { file, text, command } = launches[name](
    directory,
    readFileSync(path, 'utf8')
      .replace(/ server collector3 .*/, '')
      .replace(/(collector|api)1:8787/g, new URL(one).host)
      .replace(/(collector|api)2:8787/g, new URL(other).host)
      .replace(/(bind |listen ):?8080/, `$1127.0.0.1:${portOf(addresses.world)}`)
      .replace(/(bind |listen ):?8081;?/, (_, directive: string) =>
        insideOf(directive, portOf(addresses.inside), certificate),
      ),
  )
  writeFileSync(file, text)
  const [program, ...args] = command
  const process = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin' },
  })
  let said = ''
  process.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise<never>((_resolve, reject) => {
    process.once('error', () =>
      reject(new Error(`${name} is missing: on Debian as root "npm test" installs it`)),
    )
    process.once('exit', () => reject(new Error(`${name} ended: ${said}`)))
  })
  ended.catch(() => {})
  const proxy = { name, process, ...addresses }
  const isReady = () =>
    fetch(`${proxy.inside}/readyz`).then(
      ({ ok }) => ok,
      // Nobody vouches for a certificate of here; a proxy that shows it is up.
      (error) => certificate !== undefined && /self.signed/i.test(String(error.cause)),
    )
  await Promise.race([waitFor(name, isReady), ended])
  return proxy
}

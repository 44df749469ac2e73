/**
 * The process of a local ClickHouse, which local.ts starts. It loads libchdb, which contains all of
 * ClickHouse, and starts its command line with an HTTP port.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { endHopeless, launcherSettings, onParentGone } from '../localStores/supervise.ts'
import type { ClusterMember } from './local.ts'

interface LocalClickHouseSettings {
  directory: string
  password: string
  querySettings: Readonly<Record<string, number>>
  serverXml: string
  member?: ClusterMember
}

const { directory, port, password, querySettings, serverXml, member } =
  await launcherSettings<LocalClickHouseSettings>()

mkdirSync(directory, { recursive: true, mode: 0o700 })
const usersFile = join(directory, 'users.xml')
const configFile = join(directory, 'config.xml')

const profile = Object.entries(querySettings).map(([name, value]) => `<${name}>${value}</${name}>`)

// The session that keeps the server running always uses "default" without a password, so this user has no
// other rights.
writeFileSync(
  usersFile,
  `<clickhouse>
  <profiles><default>${profile.join('')}</default></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants>
    </default>
    <footfall>
      <password>${password}</password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota>
      ${rightsOf(member)}
    </footfall>
  </users>
</clickhouse>`,
  { mode: 0o600 },
)
// ClickHouse cannot distinguish this session from an HTTP client with the user "default". So HTTP requires
// our password.
const authorization = `Basic ${Buffer.from(`footfall:${password}`).toString('base64')}`
// A deletion rewrites each part of its table. By default, a server with two cores accepts four parts at a time. It looks
// for more only once a second, so 60 parts took 10 s. The number of threads does not depend on this.
const partsByThread = 32
writeFileSync(
  configFile,
  `<clickhouse>
  <users_config>${usersFile}</users_config>
  <background_merges_mutations_concurrency_ratio>${partsByThread}</background_merges_mutations_concurrency_ratio>
  ${serverXml}
  ${member ? `<remote_servers>${member.remoteServers}</remote_servers>` : ''}
  <http_handlers>
    <rule><url>/ping</url><handler><type>ping</type></handler></rule>
    <rule>
      <headers><Authorization>${authorization}</Authorization></headers>
      <handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler>
    </rule>
    <rule>
      <handler>
        <type>static</type><status>401</status><content_type>text/plain</content_type>
        <response_content>Authentication failed: only the Footfall that started this server may use it.</response_content>
      </handler>
    </rule>
  </http_handlers>
</clickhouse>`,
  { mode: 0o600 },
)

const commandLine = [
  'clickhouse',
  `--config-file=${configFile}`,
  `--path=${join(directory, 'data')}`,
  `--http_port=${port}`,
  '--listen_host=127.0.0.1',
  ...(member ? [`--tcp_port=${member.nativePort}`] : []),
  // The library has no server mode, so a query that never ends keeps the process running.
  `--query=SYSTEM START LISTEN HTTP; ${member ? 'SYSTEM START LISTEN TCP; ' : ''}SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0 FORMAT Null`,
]

// libchdb handles SIGTERM and SIGINT without ending. ClickHouse is crash-safe, so SIGKILL is safe.
const end = () => process.kill(process.pid, 'SIGKILL')
onParentGone(end)

const path = libraryPath()
const { arrayConstructor, DataType, load, open } = await import('ffi-rs')
open({ library: 'chdb', path })
Promise.resolve(
  load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: DataType.I32,
    paramsType: [
      DataType.I32,
      arrayConstructor({ type: DataType.StringArray, length: commandLine.length }),
    ],
    paramsValue: [commandLine.length, commandLine],
    runInNewThread: true,
  }),
).finally(end)

function libraryPath(): string {
  const name = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`
  try {
    return createRequire(import.meta.url).resolve(`${name}/libchdb.so`)
  } catch {
    endHopeless(
      `${name}, the local ClickHouse, is not installed: set CLICKHOUSE_URL, or run npx footfall-server try`,
    )
  }
}

/** Returns the rights of our login in the syntax of users.xml. */
function rightsOf(server: ClusterMember | undefined): string {
  if (!server?.grants)
    return '<access_management>1</access_management><named_collection_control>1</named_collection_control>'
  return `<grants>${server.grants.map((grant) => `<query>${grant}</query>`).join('')}</grants>`
}

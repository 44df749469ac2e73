import { randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import sourceCategories from '../../../schemas/lists/sourceCategories.json' with { type: 'json' }
import spamReferrers from '../../../schemas/lists/spamReferrers.json' with { type: 'json' }
import transitHosts from '../../../schemas/lists/transitHosts.json' with { type: 'json' }
import type { Config, S3Settings } from '../../config.ts'
import { openLocate } from '../../ingest/normalize/address.ts'
import { readDeadLetters } from '../../ingest/shipper/deadLetters.ts'
import { oldestWaitingAt, waitingBytes } from '../../ingest/spool/waiting.ts'
import { dayMs } from '../../platform/days.ts'
import { descriptorsMax, lackOfDescriptors } from '../../platform/descriptors.ts'
import { lacksSecretKey } from '../../platform/secretKey.ts'
import { StartError } from '../../platform/startError.ts'
import { readStoreNotes } from '../../platform/stores/storeNotes.ts'
import { askAll, duration, type Finding, finding, gigabytes } from './finding.ts'

/** A segment is shipped within a second or two. */
const waitedMsMax = 60_000
const answerMsMax = 5_000

/** Checks this machine: its disk, its spool, and the service, if it runs here. */
export async function examineMachine(config: Config): Promise<Finding[]> {
  return [
    finding(`Node ${process.versions.node}`),
    examineDisk(config),
    examineSpool(config),
    examineDeadLetters(config),
    ...examineLists(),
    ...examineSettings(config),
    ...examineLocations(config),
    ...examineDescriptors(config),
    await examineService(config),
  ]
}

function examineDisk({ dataDir, spoolBytesMax, role }: Config): Finding {
  try {
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    return finding(
      'FOOTFALL_DATA_DIR cannot be written to',
      `${(error as Error).message}. Create the directory for the user of the service, or set the one that the service uses`,
    )
  }
  if (!statSync(dataDir).isDirectory())
    return finding(
      'FOOTFALL_DATA_DIR cannot be written to',
      `${dataDir} is not a directory. Set the directory that the service uses`,
    )
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const isSmall = role !== 'api' && free < spoolBytesMax
  return finding(
    `${dataDir} has ${gigabytes(free)} free`,
    isSmall
      ? `less than FOOTFALL_SPOOL_MB_MAX allows for the spool (${gigabytes(spoolBytesMax)}). Free space, or lower the setting`
      : null,
  )
}

function examineSpool({ dataDir }: Config): Finding {
  const directory = join(dataDir, 'spool')
  const waitedMs = Math.max(0, Date.now() - oldestWaitingAt(directory))
  const text = `the spool holds ${gigabytes(waitingBytes(directory))}, the oldest for ${duration(waitedMs)}`
  return finding(
    text,
    waitedMs > waitedMsMax ? 'ClickHouse does not accept it: check the log of the service' : null,
  )
}

function examineDeadLetters({ dataDir }: Config): Finding {
  const letters = readDeadLetters(join(dataDir, 'dead_letters')).reduce(
    (sum, file) => sum + file.letters.length,
    0,
  )
  return finding(
    letters === 0 ? 'ClickHouse has refused no row' : `ClickHouse has refused ${letters} rows`,
    letters > 0 ? 'list the reasons with npx footfall-server dead-letters list' : null,
  )
}

function examineSettings(config: Config): Finding[] {
  const { publicUrl, collectorUrl, unknownSettings, role, s3 } = config
  return [
    ...unknownSettings.map((name) =>
      finding(`${name} is not a setting of Footfall`, 'check its spelling'),
    ),
    ...(role === 'api' && s3 === null
      ? [
          finding(
            'FOOTFALL_S3_BUCKET is not set',
            'other machines cannot read the files of audiences and exports that this one writes: set FOOTFALL_S3_*',
          ),
        ]
      : []),
    ...(lacksSecretKey(config)
      ? [
          finding(
            'FOOTFALL_SECRET_KEY is not set',
            'integrations and webhooks cannot store secrets: set the key of the other machines and of earlier starts. The first machine takes the output of openssl rand -base64 32',
          ),
        ]
      : []),
    ...(isPlain(publicUrl)
      ? [
          finding(
            `FOOTFALL_PUBLIC_URL is ${publicUrl}`,
            'passwords and keys cross the network in clear text: it must be https',
          ),
        ]
      : []),
    ...(isPlain(collectorUrl)
      ? [
          finding(
            `FOOTFALL_COLLECTOR_URL is ${collectorUrl}`,
            'pages with https load nothing from http: use https',
          ),
        ]
      : []),
  ]
}

function examineLocations({ ipDatabase }: Config): Finding[] {
  if (ipDatabase === null) return []
  try {
    openLocate(ipDatabase)
    return [finding(`FOOTFALL_IP_DATABASE ${ipDatabase} has locations`)]
  } catch (error) {
    if (error instanceof StartError)
      return [
        finding(
          'the locations of visitors',
          `${error.message}. Set the path of a .mmdb file, or remove the setting`,
        ),
      ]
    throw error
  }
}

/** Checks the limit of the running service; without one, the limit of this shell. */
function examineDescriptors({ dataDir, connectionsMax }: Config): Finding[] {
  const notes = existsSync(dataDir) ? readStoreNotes(dataDir) : null
  const ofService = notes && descriptorsMax(notes.pid)
  const lacking = lackOfDescriptors(connectionsMax, ofService ?? descriptorsMax())
  return lacking === null ? [] : [finding('there are too few descriptors', lacking)]
}

/** Whether a public address does not use TLS. */
function isPlain(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(hostname)
}

async function examineService({ host, port }: Config): Promise<Finding> {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/readyz`
  let answer: Response
  let body: string
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(answerMsMax) })
    body = await answer.text()
  } catch (error) {
    return finding(
      `no service answers at ${url}`,
      (error as Error).name === 'TimeoutError'
        ? `a program has the port, but sent no answer within ${answerMsMax / 1_000} seconds: read its log, and restart it`
        : 'start it (npx footfall-server serve), or set PORT and HOST to its values',
    )
  }
  try {
    const { status, message } = JSON.parse(body) as { status?: string; message?: string }
    if (status !== undefined || message !== undefined)
      return finding(
        `the service answers at ${url}`,
        answer.ok ? null : (message ?? `status ${answer.status}`),
      )
  } catch {
    // The answer is not JSON, so it is not the service's.
  }
  return finding(
    `another program answers at ${url}`,
    'set PORT to a free port, or stop the other program',
  )
}

/** The lists by which Footfall names and classifies traffic, with their dates. */
const lists = { sourceCategories, spamReferrers, transitHosts }
const daysMax = 400

const versionOf = (name: string): string =>
  (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version

/** States the age of each list. A new version of Footfall has newer ones. */
export function examineLists(nowMs = Date.now()): Finding[] {
  const dated = Object.entries(lists).map(([name, { date }]) => {
    const days = Math.max(0, Math.floor((nowMs - Date.parse(date)) / dayMs))
    return finding(
      `the list ${name} is of ${date}, ${days} days old`,
      days > daysMax ? 'update Footfall, which brings newer lists' : null,
    )
  })
  return [...dated, finding(`bots are recognized by isbot ${versionOf('isbot')}`)]
}

/** Checks each configured S3-compatible store: writes, reads and deletes an object. */
export async function examineFiles({ s3, backupS3 }: Config): Promise<Finding[]> {
  return [
    ...(s3 ? await examineBucket('FOOTFALL_S3', s3, '') : []),
    ...(backupS3 ? await examineBucket('FOOTFALL_BACKUP_S3', backupS3, backupS3.prefix) : []),
  ]
}

function examineBucket(setting: string, settings: S3Settings, prefix: string): Promise<Finding[]> {
  const { bucket, endpoint } = settings
  const name = `the bucket ${bucket} at ${endpoint ?? 'Amazon S3'} (${setting}_*)`
  return askAll(name, `${setting}_ENDPOINT`, async () => {
    const [{ DeleteObjectCommand, GetObjectCommand, PutObjectCommand }, { openS3Client }] =
      await Promise.all([import('@aws-sdk/client-s3'), import('../../audiences/files/s3Client.ts')])
    const client = openS3Client(settings)
    const object = { Bucket: bucket, Key: `${prefix}doctor-${randomUUID()}` }
    try {
      for (const [what, command] of [
        ['write', new PutObjectCommand({ ...object, Body: 'footfall-server doctor' })],
        ['read', new GetObjectCommand(object)],
        ['delete', new DeleteObjectCommand(object)],
      ] as const) {
        try {
          await client.send(command as InstanceType<typeof PutObjectCommand>)
        } catch (error) {
          // Without a response of the store, the fault is its address.
          if (!(error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode)
            throw error
          const { name: code, message } = error as Error
          return [
            finding(
              `${name} does not let Footfall ${what}`,
              `${code}: ${message.replace(/\.$/, '')}. Check the bucket, the key and its policy`,
            ),
          ]
        }
      }
      return [finding(`${name} can be written, read and deleted`)]
    } finally {
      client.destroy()
    }
  })
}

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../collector/platform/localStores/supervise.ts'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { type S3, startS3 } from '../../../harness/s3.ts'

const credentials = { access_key_id: 'S3RVER', secret_access_key: 'S3RVER' }

export const fileTests = (open: () => Exports) =>
  describe('S3', () => {
    const directory = mkdtempSync(join(tmpdir(), 'footfall-exports-'))
    let s3: S3
    let endpoint: string
    let integration_id: string
    let audience_id: string
    beforeAll(async () => {
      s3 = await startS3(directory, 'bucket')
      endpoint = s3.endpoint
      integration_id = await open().newIntegration(
        's3',
        { endpoint, bucket: 'bucket', prefix: 'out/' },
        credentials,
      )
      audience_id = await open().audienceOf(
        Array.from({ length: 60 }, (_, n) => ({
          address: `f${n}@known.example`,
          first_name: `A "${n}",\nB`,
        })),
      )
    }, 60_000)
    afterAll(async () => {
      await s3?.close()
      rmSync(directory, { recursive: true, force: true })
    })

    const fetchFile = async (runId: string, name: string): Promise<Buffer> => {
      const { Body } = await s3.client.send(
        new GetObjectCommand({ Bucket: 'bucket', Key: `out/${runId}/${name}` }),
      )
      return Buffer.from(await Body!.transformToByteArray())
    }
    const filesOf = async (output_format: string, mapping?: Record<string, string>) => {
      const ids = await open().run({
        audience_id,
        integration_id,
        output_format,
        ...(mapping && { mapping }),
      })
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_exported: 60 })
      const manifest = JSON.parse((await fetchFile(ids.runId, 'manifest.json')).toString())
      expect(manifest).toMatchObject({ run_id: ids.runId, format: output_format, rows: 60 })
      const [file] = manifest.files
      const bytes = await fetchFile(ids.runId, file.name)
      expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([
        file.bytes,
        file.sha256,
      ])
      return bytes
    }

    test('files with a manifest: CSV, newline-delimited JSON and Parquet have the same rows', async () => {
      expect(await open().get('POST', `integrations/${integration_id}/check`)).toMatchObject({
        check: { works: true },
      })
      const csv = (await filesOf('csv', { mail_hash: 'hem', Given: 'first_name' })).toString()
      expect(csv.split('\n')[0]).toBe('"mail_hash","Given"')
      expect(csv).toContain('"A ""7"",\nB"')
      const lines = (await filesOf('ndjson'))
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(new Set(lines.map(({ hem }) => hem))).toEqual(
        new Set(Array.from({ length: 60 }, (_, n) => hemOf(`f${n}@known.example`))),
      )
      const parquet = await parquetReadObjects({
        file: new Uint8Array(await filesOf('parquet')).buffer,
      })
      const text = (value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value
      expect(parquet.map(({ hem }) => text(hem))).toEqual(lines.map(({ hem }) => hem))
    })

    test('ClickHouse reads the files back by its own s3()', async () => {
      const ids = await open().run({ audience_id, integration_id, output_format: 'parquet' })
      await open().ended(ids)
      const [found] = await open().clickhouse.rows<{ count: number; people: number }>({
        sql: `SELECT count() AS count, uniqExact(hem) AS people
              FROM s3({url:String}, 'S3RVER', 'S3RVER', 'Parquet')`,
        params: { url: `${endpoint}/bucket/out/${ids.runId}/part-*.parquet` },
      })
      expect(found).toEqual({ count: 60, people: 60 })
    })

    test('a bucket that is not there is told by the check, and stops a run', async () => {
      const gone = await open().newIntegration('s3', { endpoint, bucket: 'gone' }, credentials)
      const { check } = await open().get('POST', `integrations/${gone}/check`)
      expect(check.works).toBe(false)
      const ids = await open().run({ audience_id, integration_id: gone, output_format: 'csv' })
      expect(await open().ended(ids)).toMatchObject({ status: 'failed', records_failed: 60 })
    })

    test('a run whose store was never reached is refunded when it is cancelled', async () => {
      const nowhere = { endpoint: `http://127.0.0.1:${await freePort()}`, bucket: 'bucket' }
      const away = await open().newIntegration('s3', nowhere, credentials)
      // More than a stopped run gives an outcome at a time. All are one chunk with one charge.
      const members = 10_001
      const people = await open().audienceOf(
        Array.from({ length: members }, (_, n) => ({ address: `unsent${n}@known.example` })),
      )
      const before = await open().charged()
      const ids = await open().run({
        audience_id: people,
        integration_id: away,
        output_format: 'csv',
      })
      await open().ended(ids, ({ status }) => status === 'parked')
      await open().get('POST', `exports/${ids.exportId}/runs/${ids.runId}/cancel`)
      expect(await open().ended(ids)).toMatchObject({
        status: 'failed',
        records_failed: members,
        records_charged: 0,
      })
      expect(await open().charged()).toBe(before)
    }, 120_000)
  })

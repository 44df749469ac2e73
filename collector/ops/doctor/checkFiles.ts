import { randomUUID } from 'node:crypto'
import type { Config, S3Settings } from '../../config.ts'
import { askAll, type Finding, finding } from './finding.ts'

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

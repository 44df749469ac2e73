import {
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { deletedObjectsMax, deleteObjects, openS3Client } from '../../audiences/files/s3Client.ts'
import type { S3Settings } from '../../config.ts'
import { StartError } from '../../platform/startError.ts'
import type { ObjectStore } from './objectStore.ts'

/** Backups in a bucket of an S3-compatible store. The client retries failed requests. */
export function openS3ObjectStore(settings: S3Settings & { prefix: string }): ObjectStore {
  const { bucket, prefix, endpoint } = settings
  const client = openS3Client(settings)
  const place = `s3://${bucket}/${prefix}`
  const keyOf = (folder: string, name: string) => `${prefix}${folder}/${name}`
  /** Names the store in its errors, which never contain the keys. */
  const asking = <T>(request: Promise<T>): Promise<T> =>
    request.catch((error: Error) => {
      if (error instanceof NoSuchKey) throw error
      const refused = error instanceof S3ServiceException && error.$metadata.httpStatusCode
      throw new StartError(
        `${endpoint ?? 'Amazon S3'} ${refused ? `refused ${place}` : `cannot be reached for ${place}`}: ${error.name} ${error.message}. Check FOOTFALL_BACKUP_S3_*`,
      )
    })
  return {
    place,
    async list(folder) {
      const files = new Map<string, number>()
      const start = keyOf(folder, '')
      await asking(
        (async () => {
          for await (const page of paginateListObjectsV2(
            { client },
            { Bucket: bucket, Prefix: start },
          ))
            for (const { Key, Size } of page.Contents ?? [])
              files.set(Key!.slice(start.length), Number(Size))
        })(),
      )
      return files
    },
    async put(folder, name, bytes) {
      await asking(
        client.send(
          new PutObjectCommand({ Bucket: bucket, Key: keyOf(folder, name), Body: bytes }),
        ),
      )
    },
    async get(folder, name) {
      const read = async () => {
        const command = new GetObjectCommand({ Bucket: bucket, Key: keyOf(folder, name) })
        const { Body } = await client.send(command)
        return Buffer.from(await Body!.transformToByteArray())
      }
      try {
        return await asking(read())
      } catch (error) {
        if (error instanceof NoSuchKey) return null
        throw error
      }
    },
    async remove(folder, names) {
      for (let from = 0; from < names.length; from += deletedObjectsMax) {
        const keys = names.slice(from, from + deletedObjectsMax).map((name) => keyOf(folder, name))
        await asking(deleteObjects(client, bucket, keys))
      }
    },
    close: () => client.destroy(),
  }
}

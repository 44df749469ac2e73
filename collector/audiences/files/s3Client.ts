import { DeleteObjectsCommand, S3Client } from '@aws-sdk/client-s3'
import type { S3Settings } from '../../config.ts'

export const openS3Client = ({ endpoint, region, accessKeyId, secretAccessKey }: S3Settings) =>
  new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey },
    // Stores of other vendors have no host name per bucket, and not all support newer checksums.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })

/** The most objects that a request can delete. */
export const deletedObjectsMax = 1_000

/** Deletes at most `deletedObjectsMax` objects. Throws if the store keeps one. */
export async function deleteObjects(
  client: S3Client,
  bucket: string,
  keys: readonly string[],
): Promise<void> {
  const Objects = keys.map((Key) => ({ Key }))
  const { Errors = [] } = await client.send(
    new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
  )
  const [error] = Errors
  if (error) throw new Error(`cannot delete ${error.Key}: ${error.Code} ${error.Message}`)
}

import { S3Client } from '@aws-sdk/client-s3'
import S3rver from 's3rver'
import { freePort } from '../../collector/platform/localStores/supervise.ts'

/** The only key id that the server knows, and its secret. */
const s3Key = 'S3RVER'

/** Starts a server that speaks S3, with a bucket in a directory. */
export async function startS3(directory: string, bucket: string) {
  const port = await freePort()
  const server = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  })
  await server.run()
  const endpoint = `http://127.0.0.1:${port}`
  return {
    endpoint,
    client: new S3Client({
      endpoint,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId: s3Key, secretAccessKey: s3Key },
    }),
    close: () => server.close(),
  }
}

export type S3 = Awaited<ReturnType<typeof startS3>>

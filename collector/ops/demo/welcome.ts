import { join } from 'node:path'
import type { Demo } from './demo.ts'

/** The text of `npm start` when the service is ready; `audienceId` is an audience of the demo. */
export function welcome(demo: Demo, dataDir: string, audienceId: string | null): string {
  const {
    dashboard_url,
    admin_email,
    admin_password,
    api_key,
    api_secret,
    test_api_key,
    test_api_secret,
    project_id,
    pixel_id,
  } = demo
  const ask = (key: string, secret: string, path: string) =>
    `  curl -H 'X-Api-Key: ${key}' \\
       -H 'X-Api-Secret: ${secret}' \\
       '${dashboard_url}api/${path}'`
  return `
Footfall is up.

  Shop to click on    ${demo.demo_url}
  Dashboard           ${dashboard_url}
                      ${admin_email} / ${admin_password}
  API documentation   ${dashboard_url}docs
  Keys and ids        ${join(dataDir, 'demo.json')}
  A site of your own  New project in the dashboard, or: npx footfall-server setup

Click something in the shop, and read it back within two seconds:

${ask(api_key, api_secret, `v3/events/web_event?pixel_id=${pixel_id}&select=timestamp,event_type,page_path,event_data&limit=5`)}

Sample data, with a test key:

${ask(test_api_key, test_api_secret, 'v3/events/web_event?limit=2')}

Audiences of the sample data:

${ask(test_api_key, test_api_secret, `v1/audiences?project_id=${project_id}`)}
${
  audienceId === null
    ? ''
    : `
An audience of the demo, as a page of records and as a Parquet file:

${ask(api_key, api_secret, `v1/audiences/${audienceId}/records?project_id=${project_id}&page_size=2`)}
${ask(api_key, api_secret, `v1/audiences/${audienceId}/download?project_id=${project_id}&format=parquet`)}
`
}`
}

/** The forms of messages that chats accept, as their public documentation has them. */
import { describe, expect, test } from 'vitest'
import { chatBody } from '../../../collector/analytics/alerts/alertChannels.ts'

const message = {
  title: 'Shop: <!channel> & *more*',
  text: '0 events in the last hour\n\n- [Here](x) @everyone /',
}

describe('the form of a message', () => {
  test.each([
    'https://hooks.slack.com/services/T0/B0/secret',
    'https://chat.example.com/hooks/secret',
    'https://discord.com/api/webhooks/1/secret/slack',
    'https://notdiscord.com/api/webhooks/1/secret',
  ])('is that of Slack for %s, and escapes its markup', (url) => {
    expect(chatBody(url, message)).toEqual({
      text: '*Shop: &lt;!channel&gt; &amp; *more**\n0 events in the last hour\n\n- [Here](x) @everyone /',
    })
  })

  test.each([
    'https://acme.webhook.office.com/webhookb2/secret',
    'https://prod-1.westeurope.logic.azure.com:443/workflows/secret/triggers/manual/paths/invoke',
    'https://default1.2.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/3',
  ])('is an Adaptive Card for %s, with a block for each line', (url) => {
    expect(chatBody(url, message)).toEqual({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: expect.objectContaining({
            type: 'AdaptiveCard',
            version: '1.2',
            body: [
              expect.objectContaining({ text: 'Shop: <!channel> & \\*more\\*', weight: 'bolder' }),
              expect.objectContaining({ type: 'TextBlock', text: '0 events in the last hour' }),
              expect.objectContaining({ text: '- \\[Here\\](x) @everyone /', wrap: true }),
            ],
          }),
        },
      ],
    })
  })

  test('is content for Discord, which mentions nobody and is at most 2,000 characters long', () => {
    const url = 'https://discord.com/api/webhooks/1/secret'
    expect(chatBody(url, message)).toEqual({
      content:
        '**Shop: <!channel> & \\*more\\***\n0 events in the last hour\n\n- \\[Here\\](x) @everyone /',
      allowed_mentions: { parse: [] },
    })
    const { content } = chatBody(url, { ...message, text: 'x'.repeat(3_000) }) as {
      content: string
    }
    expect(content).toHaveLength(2_000)
  })
})

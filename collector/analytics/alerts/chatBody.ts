export interface ChatMessage {
  readonly title: string
  /** Lines of plain text. */
  readonly text: string
}

/** Discord refuses longer messages. */
const discordCharsMax = 2_000

/**
 * Returns the JSON of a message for the incoming webhook at an address. The host decides between Microsoft Teams and
 * Discord. All others get what Slack, Mattermost and Rocket.Chat accept: `{"text"}`. Visitors choose parts of the text,
 * so none of the forms lets it mention people or format itself where the chat can prevent that.
 */
export function chatBody(url: string, message: ChatMessage): object {
  const { hostname, pathname } = new URL(url)
  if (isOf(hostname, teamsDomains)) return teamsBody(message)
  // Discord also has addresses for Slack's form.
  if (isOf(hostname, discordDomains) && !pathname.endsWith('/slack')) return discordBody(message)
  return { text: slackText(`*${message.title}*\n${message.text}`) }
}

/** Connectors of Teams, and workflows of Power Automate. */
const teamsDomains = ['webhook.office.com', 'logic.azure.com', 'powerplatform.com']
const discordDomains = ['discord.com', 'discordapp.com']

const isOf = (host: string, domains: readonly string[]): boolean =>
  domains.some((domain) => host === domain || host.endsWith(`.${domain}`))

/** Escapes the characters that Slack reads as markup, such as `<!channel>`. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** An Adaptive Card, the only form that workflows of Teams accept. Without `entities` it mentions nobody. */
const teamsBody = ({ title, text }: ChatMessage) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.2',
        body: [
          { type: 'TextBlock', text: withoutMarkup(title), weight: 'bolder', wrap: true },
          // Teams joins the lines of one block.
          ...text
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => ({
              type: 'TextBlock',
              text: withoutMarkup(line),
              wrap: true,
              spacing: 'small',
            })),
        ],
      },
    },
  ],
})

const discordBody = ({ title, text }: ChatMessage) => ({
  content: `**${withoutMarkup(title)}**\n${withoutMarkup(text)}`.slice(0, discordCharsMax),
  allowed_mentions: { parse: [] },
})

/** Escapes emphasis, code and links of Markdown. */
const withoutMarkup = (text: string): string => text.replace(/[\\*_~`[\]]/g, '\\$&')

/**
 * Watches YouTube and Vimeo players, if the settings enable it. They report their state by postMessage, and
 * this chunk turns it into events of their frames, like those of `<video>`.
 */

/** A frame with the members that the pixel reads of videos. */
type Frame = HTMLIFrameElement & { currentSrc?: string; currentTime?: number; duration?: number }

interface Player {
  frame: Frame
  isPlaying: boolean
}

/** The part of the players' messages that this chunk reads. */
interface Message {
  event?: string
  method?: string
  value?: string
  data?: { seconds: number; duration: number }
  info?: {
    playerState?: number
    currentTime?: number
    duration?: number
    videoData?: { title?: string }
  }
}

/** The messages of a player, and the commands that request them. */
interface Provider {
  origin: RegExp
  src: RegExp
  hello: object[]
  hear(player: Player, message: Message): void
}

const players = new Map<Window, Player & { provider: Provider }>()

const tell = ({ frame }: Player, action: 'play' | 'pause' | 'timeupdate' | 'ended') => {
  frame.currentSrc = frame.src
  frame.dispatchEvent(new Event(action))
}

const play = (player: Player) => {
  if (player.isPlaying) return
  player.isPlaying = true
  tell(player, 'play')
}

const stop = (player: Player, action: 'pause' | 'ended') => {
  if (!player.isPlaying) return
  player.isPlaying = false
  tell(player, action)
}

const move = (player: Player, position: number, duration: number) => {
  player.frame.currentTime = position
  player.frame.duration = duration
  if (player.isPlaying) tell(player, 'timeupdate')
}

const title = ({ frame }: Player, text: string | undefined) => {
  if (text) frame.dataset.footfallTitle = text
}

const vimeoCall = (event: string) => ({ method: 'addEventListener', value: event })

const providers: Provider[] = [
  {
    // Only a player with enablejsapi=1 sends messages. Adding that would reload it.
    origin: /^https:\/\/www\.youtube(-nocookie)?\.com$/,
    src: /^https:\/\/www\.youtube(-nocookie)?\.com\/embed\/.*[?&]enablejsapi=1/,
    hello: [{ event: 'listening', id: 1, channel: 'widget' }],
    hear(player, { info }) {
      if (!info) return
      title(player, info.videoData?.title)
      // YouTube's states: 0 ended, 1 playing, 2 paused.
      if (info.playerState === 1) play(player)
      move(
        player,
        info.currentTime ?? player.frame.currentTime!,
        info.duration ?? player.frame.duration!,
      )
      if (info.playerState === 2) stop(player, 'pause')
      if (info.playerState === 0) stop(player, 'ended')
    },
  },
  {
    origin: /^https:\/\/player\.vimeo\.com$/,
    src: /^https:\/\/player\.vimeo\.com\/video\//,
    hello: [
      ...['play', 'pause', 'ended', 'timeupdate'].map(vimeoCall),
      { method: 'getVideoTitle' },
    ],
    hear(player, { event, method, value, data }) {
      if (event === 'ready') greet(player.frame)
      if (method === 'getVideoTitle') title(player, value)
      if (event === 'play') play(player)
      if (data) move(player, data.seconds, data.duration)
      // A player that ends also reports a pause.
      if (event === 'pause' && player.frame.currentTime! < player.frame.duration!)
        stop(player, 'pause')
      if (event === 'ended') stop(player, 'ended')
    },
  },
]

/** Players that are not ready miss the greeting, so they are greeted again when their frame has loaded. */
function greet(frame: HTMLIFrameElement): void {
  const provider = providers.find(({ src }) => src.test(frame.src))
  const { contentWindow } = frame
  if (!provider || !contentWindow || frame.closest('[data-footfall-ignore]')) return
  if (!players.has(contentWindow)) {
    Object.assign(frame, { currentTime: 0, duration: NaN })
    players.set(contentWindow, { frame, isPlaying: false, provider })
  }
  for (const message of provider.hello) {
    contentWindow.postMessage(JSON.stringify(message), new URL(frame.src).origin)
  }
}

window.addEventListener('message', ({ source, origin, data }) => {
  const player = players.get(source as Window)
  if (!player?.provider.origin.test(origin)) return
  try {
    player.provider.hear(player, typeof data === 'string' ? JSON.parse(data) : data)
  } catch {}
})
// Not on window: load events do not propagate beyond the document.
document.addEventListener(
  'load',
  ({ target }) => target instanceof HTMLIFrameElement && greet(target),
  true,
)
document.querySelectorAll('iframe').forEach(greet)

export {}

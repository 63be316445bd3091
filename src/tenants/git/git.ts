import { type SimpleGit, simpleGit } from "simple-git";
import { Failure } from "../../base/failure.ts";

/** Git's setup, which is the same for all repositories. */
export type GitSetup = {
  /** The variables that git needs: PATH, and where the system keeps its certificates. */
  readonly environment: Readonly<Record<string, string>>;
  /** A PEM file of trusted certificates; null means the system's. */
  readonly certificateFile: string | null;
  /** Git is ended when it receives nothing for this long, in ms. */
  readonly silenceLimitMs: number;
};

/** How git reaches one repository. */
export type GitReach = GitSetup & {
  /** The allowed schemes. */
  readonly protocols: readonly string[];
  /** `http://user:password@127.0.0.1:PORT`, the proxy for every connection; null for local repositories. */
  readonly proxyUrl: string | null;
  readonly credentials: GitCredentials | null;
  /** Null for repositories that are not reached over ssh. */
  readonly ssh: SshAccess | null;
};

/** How git is run, without any configuration of the machine or the user. */
export type GitOptions = {
  readonly reach: GitReach;
  /** The bare repository, which `init` creates. */
  readonly directory: string;
  /** The repository's URL without credentials. */
  readonly url: string;
  /** An empty directory that serves as git's home. */
  readonly home: string;
  readonly signal: AbortSignal;
};

/** Credentials that a script hands to git; they are only in the script's environment. */
export type GitCredentials = {
  readonly askpassPath: string;
  readonly username: string;
  readonly token: string;
};

/** How git reaches a repository over ssh. */
export type SshAccess = {
  /** The command that git runs instead of `ssh`, for a shell. */
  readonly command: string;
  /** Says what a person can do about a failure of ssh; null for others. */
  readonly explain: (said: string) => string | null;
};

/** Runs git commands on one bare repository. */
export type Git = ReturnType<typeof openGit>;

/** Opens git for a repository that need not exist yet. */
export function openGit(options: GitOptions) {
  const environment = gitEnvironment(options);
  const open = (input: string | undefined): SimpleGit =>
    simpleGit({
      baseDir: options.home,
      abort: options.signal,
      maxConcurrentProcesses: 1,
      timeout: { block: options.reach.silenceLimitMs },
      allowEnvironment: Object.keys(environment),
      // All values come from `gitEnvironment`, which makes git safer, never from a repository or its URL.
      unsafe: {
        allowUnsafeAskPass: true,
        allowUnsafeConfigEnvCount: true,
        allowUnsafeConfigPaths: true,
        allowUnsafeHooksPath: true,
        allowUnsafeFsMonitor: true,
        allowUnsafeCredentialHelper: true,
        allowUnsafeProtocolOverride: true,
        allowUnsafeGitProxy: true,
        allowUnsafeTemplateDir: true,
        allowUnsafeSshCommand: true,
      },
      ...(input === undefined ? {} : { input: () => input }),
    }).env(environment);
  const guard = async <T>(words: readonly string[], work: () => PromiseLike<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (options.signal.aborted) throw new Failure("cancelled", "the sync was cancelled");
      throw gitFailure(words, error, options);
    }
  };
  return {
    /**
     * Gives the standard output.
     * @throws Failure `cancelled`, or `network` with git's message without secrets
     */
    run: (words: readonly string[], input?: string): Promise<string> =>
      guard(words, () => open(input).raw([...words])),
    /** Runs `cat-file` like `run`, with its output as bytes. */
    catFile: (words: readonly string[], input: string): Promise<Uint8Array> =>
      guard(words, () => open(input).binaryCatFile([...words])),
  };
}

function gitEnvironment(options: GitOptions): Record<string, string> {
  const { reach, home } = options;
  const { credentials, ssh } = reach;
  const config = Object.entries(gitConfiguration(options));
  return {
    ...reach.environment,
    GIT_DIR: options.directory,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: NOWHERE,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: reach.protocols.join(":"),
    // This overrides a desktop's askpass program: without a token nobody must be asked.
    GIT_ASKPASS: credentials?.askpassPath ?? "",
    ...(credentials && { SYNC_USERNAME: credentials.username, SYNC_TOKEN: credentials.token }),
    ...(ssh && { GIT_SSH_COMMAND: ssh.command, GIT_SSH_VARIANT: "ssh" }),
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

const NOWHERE = process.platform === "win32" ? "NUL" : "/dev/null";

/** Configuration that overrides the repository's own file. It is passed in variables, which no process list shows. */
function gitConfiguration({ url, reach }: GitOptions): Record<string, string> {
  const { proxyUrl, certificateFile } = reach;
  return {
    "remote.origin.url": url,
    "core.hooksPath": NOWHERE,
    "core.fsmonitor": "false",
    "core.attributesFile": NOWHERE,
    "core.symlinks": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "init.templateDir": "",
    "protocol.version": "2",
    // The operator must change the address of a repository that has moved; tokens must not follow redirects.
    "http.followRedirects": "false",
    ...(proxyUrl && { "http.proxy": proxyUrl, "http.proxyAuthMethod": "basic" }),
    ...(certificateFile && { "http.sslCAInfo": certificateFile }),
  };
}

const MAX_SHOWN = 500;

function gitFailure(words: readonly string[], error: unknown, options: GitOptions): Failure {
  const said = error instanceof Error ? error.message : String(error);
  if (/ENOENT/.test(said) && /spawn/.test(said))
    return new Failure("invalid_settings", "git tenants need the program git, which was not found on PATH");
  const explained = options.reach.ssh?.explain(said) ?? null;
  if (explained !== null) return new Failure("invalid_settings", explained);
  const lines = withoutSecrets(said, options)
    .split("\n")
    .map((line) => line.trim())
    .filter(
      (line) => line !== "" && !/^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving)/.test(line),
    );
  const shown = lines.join("; ").slice(0, MAX_SHOWN);
  const code = /timeout plugin|block timeout/i.test(said) ? "timeout" : "network";
  return new Failure(code, `git ${words[0]}: ${shown}`);
}

// A shorter secret would remove ordinary letters from messages.
const MIN_SECRET = 3;

function withoutSecrets(text: string, { reach, directory }: GitOptions): string {
  const { credentials, proxyUrl } = reach;
  const proxy = proxyUrl === null ? null : new URL(proxyUrl);
  const secrets = [credentials?.token, proxy?.password].filter(
    (secret) => secret !== undefined && secret.length >= MIN_SECRET,
  );
  let shown = text.replaceAll(/(https?:\/\/)[^/\s@]*@/gi, "$1");
  for (const secret of secrets) {
    shown = shown.replaceAll(String(secret), "…").replaceAll(encodeURIComponent(String(secret)), "…");
  }
  return shown.replaceAll(directory, "the clone");
}

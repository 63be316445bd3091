/** Our names, each with the names that people type instead, separated by spaces. */
type OtherNames = Readonly<Record<string, string>>;

/** Reads lines of the form `what is meant = what is typed in its place`. */
const rows = (text: string): OtherNames =>
  Object.fromEntries(
    text.split("\n").flatMap((row) => (row.includes(" = ") ? [row.trim().split(" = ")] : [])),
  );

const INCLUDED =
  "include-path include-paths include-pattern include-patterns include-urls includes include-directories accept accept-regex url-filter";
const ALLOWED = "allow allowed whitelist";
const EXCLUDED =
  "exclude-path exclude-paths exclude-pattern exclude-patterns exclude-urls excludes exclude-directories reject reject-regex";
const DENIED = "deny disallow blacklist ignore";
const URL_ALONE = "u uri link start-url start-urls";
const TENANT = "tenant codename name t source site collection";

const OF_PAGES = `
    --select body = full-page whole-page all-content no-only-main-content
    --exclude table = no-tables exclude-tables
    --header "Cookie: NAME=VALUE" = cookie
    --cookies FILE = load-cookies cookie-file cookies-file cookie-jar
    --header "Referer: URL" = referer referrer
    the main content is what is taken; --select body takes the whole page = only-main-content main-content-only article-only
    comments are left out anyway = no-comments exclude-comments
    redirects are followed anyway = location L follow follow-redirects
    an address can have credentials: https://NAME:PASSWORD@HOST/ = user auth basic-auth http-user
    certificates are always checked; the variable NODE_EXTRA_CA_CERTS names a file of further authorities = insecure k no-check-certificate no-verify cacert
    the result says its language; pages are not chosen by it = target-language lang language
    pages are written as text, not as pictures = screenshot pdf`;

/**
 * Options as other programs call them (trafilatura, Firecrawl, Crawl4AI, defuddle, wget, curl, Scrapy, Context7 and
 * docs-mcp-server), by command. An answer is an option, or a sentence where none does the same. Those of `every` hold for
 * each command that has the option with that placeholder, unless its own say something else. The answers of the programs
 * before this one stand in `earlier-names.ts`.
 */
export const OTHER_OPTIONS: Readonly<Record<string, OtherNames>> = {
  every: rows(`
    --quiet = silent s no-progress no-verbose
    --env-file PATH = env dotenv
    --config FILE = config-file conf deployment deployment-file c
    --max-pages N = limit max max-urls page-limit num-pages closespider-pagecount
    --max-depth N = depth d level l max-discovery-depth depth-limit link-depth
    --include-url GLOB = include ${INCLUDED}
    --exclude-url GLOB = ${EXCLUDED}
    --allow-prefix PREFIX = ${ALLOWED}
    --deny-prefix PREFIX = ${DENIED}
    --exclude PATTERN = ${EXCLUDED} ${DENIED}
    --concurrency N = max-concurrency max-concurrent parallel threads jobs concurrent-requests sockets
    --rate-limit SECONDS = delay wait w download-delay request-delay crawl-delay sleep interval throttle
    --output-dir DIR = output-directory outdir out-dir directory directory-prefix P dir dest destination
    --output FORMAT = format to output-format formats
    -o FILE = outfile out out-file output-document O output-path save
    --json = format output-format output as-json j
    --jsonl = json j jsonlines json-lines ndjson stdout
    --input-file LIST = urls url-file urls-file url-list list-file links-file input-list i batch from-file
    --fields NAMES = field keys property p
    --compact = one-line minify no-pretty
    --resume FILE = continue c
    --fresh = force overwrite clean restart no-resume bypass-cache no-cache
    --dry-run = list list-only urls-only preview plan map
    --documents = pdfs files with-documents include-documents
    --discover-sitemaps = use-sitemap use-sitemaps sitemaps
    --no-follow-links = sitemap-only only-sitemap no-recursion
    --ignore-robots = no-robots ignore-robots-txt no-obey-robots
    --max-failures N|N% = max-errors ignore-errors
    --select CSS = include include-tags include-selector css css-selector selector target-selector
    --exclude CSS = exclude-tags exclude-selector excluded-selector excluded-tags remove remove-selector strip
    --no-images = ignore-images exclude-images without-images
    --save-images = extract-media download-images save-pictures images-dir image-dir media-dir page-requisites
    --user-agent TEXT = useragent ua agent U
    --header "NAME: VALUE" = headers H extra-headers custom-header
    --proxy URL = http-proxy https-proxy all-proxy proxy-server proxy-url x
    --proxy-bypass HOST = noproxy no-proxy
    --timeout SECONDS = max-time connect-timeout request-timeout page-timeout read-timeout time-limit T
    --retries N = retry tries t max-retries retry-times retry-count
    --max-bytes SIZE = max-size max-filesize max-file-size
    --fail-on-http-error = fail fail-with-body
    --wait-for CSS = wait-for-selector wait-selector
    --prefer-browser = render js javascript render-js use-browser browser playwright dynamic
    --no-browser = no-js no-javascript static no-render disable-js
    --headed = no-headless headful show-browser
    --scroll = scan-full-page infinite-scroll auto-scroll scroll-to-bottom
    --size N = limit n k l top top-k topk max-results num-results results per-page page-size
    --offset N = skip start from
    --word-match = exact exact-match e literal no-stemming
    --dir DIR = folder directory docs docs-dir root
    --days N = since last
    --host ADDRESS = bind address listen addr hostname ip interface
    --port N = p listen-port http-port
    --codename NAME = id slug alias
    --name NAME = title display-name docs-name
    --schedule CRON = cron interval every refresh
    --yes = y force assume-yes no-confirm
    --tenants LIST = tenant scope scopes
    --service SERVICE = server for
    --log-level LEVEL = loglevel verbosity debug trace
  `),
  extract: rows(`${OF_PAGES}
    --user-agent TEXT = A
    --output markdown = md
    --output text = txt plain plain-text
    --fields default,links = links include-links
    the address stands alone: article-extractor URL = URL ${URL_ALONE}
    the metadata is in the JSON, and before Markdown with --frontmatter = with-metadata metadata only-with-metadata
    JSON is on several lines anyway, and on one with --compact = pretty indent
    the forms are json, markdown, text, html and csv: --output FORMAT = xml xmltei xml-tei tei
    crawl follows links: article-extractor crawl URL --max-depth N = depth max-depth l level deep-crawl recursive recurse r mirror crawl explore
    all pages that are named are read; crawl has --max-pages N = limit max max-pages max-urls n
    several pages of a list are read at once anyway; crawl has --concurrency N = concurrency max-concurrency max-concurrent workers parallel threads jobs
    pages of a list are read without pauses; crawl has --rate-limit SECONDS = delay wait w sleep rate-limit request-delay
    crawl chooses pages by address, with --include-url and --exclude-url = ${INCLUDED} ${EXCLUDED} ${ALLOWED} ${DENIED}
  `),
  crawl: rows(`${OF_PAGES}
    --output-dir DIR = output output-file out outfile O output-path
    --sitemap PATH = input-file i urls url-list urls-file list-file
    the address stands alone: article-extractor crawl URL = url URL ${URL_ALONE}
    pages become Markdown files, or JSON lines with --jsonl = format output-format formats to markdown md text txt html csv xml
    robots.txt is obeyed anyway = respect-robots respect-robots-txt obey-robots robots robots-txt
    a crawl of the same --output-dir goes on where it stopped = resume continue c jobdir
    links stay on the sites of the seeds anyway = same-domain same-host same-origin stay-on-domain
    name every site with --allow-prefix, that of the seed too = allow-external-links external-links allow-subdomains include-subdomains subdomains span-hosts domains D
    links are followed anyway, up to --max-depth = recursive recurse r mirror deep-crawl crawl-entire-domain
  `),
  search: rows(`
    --filter kind:KIND = kind type
    --filter path:PATH = path paths prefix
    --filter language:LANGUAGE = lang language
    --filter group:GROUP = group
    the tenant stands before the query: search TENANT QUERY = ${TENANT}
    the query stands alone: search TENANT QUERY = query text question
  `),
  fetch: rows(`
    both stand alone: fetch TENANT URI = ${TENANT} ${URL_ALONE} url
    a document is printed as Markdown anyway = markdown md raw
  `),
  index: rows(`
    tenants stand alone: index TENANT = tenant codename t site collection
    --index-file FILE = output out outfile o
  `),
  sync: rows(`
    tenants stand alone: sync TENANT = ${TENANT}
    it is set for good: tenants set TENANT --max-pages N = limit max max-pages
    serve search syncs by itself: tenants set TENANT --schedule CRON = schedule cron interval every watch
  `),
  serve: rows(`
    serve search has MCP at /mcp over HTTP, or with --stdio = transport protocol http sse mcp
    the variables DOCS_SEARCH_API_KEY and ARTICLE_EXTRACTOR_API_KEY hold the keys = api-key key token auth auth-token
    the variables DOCS_SEARCH_ALLOWED_HOSTS and ARTICLE_EXTRACTOR_ALLOWED_HOSTS name the hosts = allowed-hosts allow-hosts trusted-hosts
    the variables DOCS_SEARCH_CORS_ORIGINS and ARTICLE_EXTRACTOR_CORS_ORIGINS name the origins = cors cors-origin cors-origins allow-origin allowed-origins
    serve search takes over changes of its deployment file by itself = reload watch
    a reverse proxy before the server speaks HTTPS = ssl tls https cert ssl-certfile ssl-keyfile
    the variables DOCS_SEARCH_STATE_DIR and ARTICLE_EXTRACTOR_STATE_DIR name the place of the state = store-path state-dir data-dir
    a folder becomes a tenant with tenants add DIR = dir docs docs-dir directory root
  `),
  mcp: rows(`
    mcp speaks over stdin and stdout; serve search and serve extractor have HTTP = transport protocol http sse stdio port p host listen
    mcp needs no key = api-key key token
    --print-config CLIENT = client install setup
  `),
  tenants: rows(`
    a website is limited by --max-pages and not by depth = depth max-depth d level
    url_whitelist_prefixes in the deployment file keeps a website to some paths = include ${INCLUDED} ${ALLOWED}
    the word has no dashes: tenants list = list
    git_branch in the deployment file names a branch = branch ref tag revision b
    the source itself tells which kind it is = type source-type kind
    the source stands alone: tenants add URL|REPOSITORY|FOLDER = url path dir folder repo repository source git
  `),
};

/** Words that mean the same, in groups: commands and what they do, names of parameters and fields, values. */
const SAME_WORDS: readonly (readonly string[])[] = `
  extract scrape parse convert get article | extractor extract extraction scrape scraper crawl crawler pages
  crawl spider mirror site | search find ask lookup documentation mcp | serve server start listen daemon run
  sync update refresh pull | index reindex build | add create new register | list ls show
  set edit change modify update | rename mv move | revoke delete rm | remove delete rm del uninstall
  tenants sources collections libraries add list ls rm remove | migrate upgrade up init | doctor diagnose info
  queries analytics | q query search text term words question topic
  size limit count n k top_k max_results num_results per_page page_size | offset skip start from
  tenant tenants tenant_codename codename source site collection library_id libraryId
  uri url address link href path id page | prefix allow_prefix allow_prefixes include include_paths path
  max_pages limit pages | max_depth depth | max_chars max_length length | max_tokens tokens | job_id id job crawl_id
  status state | days since last | format type as output output_format formats | filter filters where
  byline author authors | published_date date published | siteName sitename site site_name
  excerpt description summary | keywords tags | vscode code visual-studio-code copilot
  generic windsurf cline gemini gemini-cli opencode roo | critical fatal | debug trace | text plain
`
  .split(/[\n|]/)
  .map((group) => group.trim().split(" "));

/** Returns the candidate with the word's meaning, or null. */
export function sameWord(word: string, candidates: readonly string[]): string | null {
  if (candidates.includes(word)) return null;
  const groups = SAME_WORDS.filter((group) => group.includes(word));
  return groups.flatMap((group) => group.filter((other) => candidates.includes(other)))[0] ?? null;
}

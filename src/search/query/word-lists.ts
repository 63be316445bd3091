import type { Language } from "../types.ts";

/**
 * Words that form a question but say nothing about its subject; folded, with apostrophes. They are left out
 * of questions only: `the who`, `if` and `for loop` are searched unchanged.
 */
export const QUESTION_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also am an and any anyone are aren't as at be because been before being between
  both but by came can can't cannot come could couldn't did didn't do does doesn't doing don't each else for
  from get gets getting give got had happen happens has have having he her here hers him his how however i
  i'd i'll i'm i've if in into is isn't it it's its itself just know like made make makes many may me mean
  means might more most much must my myself need no nor not of off on one or other ought our out over own
  please same say seem shall she should shouldn't so some someone something still such sure take tell than
  that that's the their them then there there's these they they're thing things this those through to too up
  us use used using very want was wasn't way we well were what what's when where where's whether which while
  who whom whose why will with without won't work would wouldn't wrong you you're your yours yourself`.split(
    /\s+/,
  ),
);

const OPENERS: ReadonlySet<string> = new Set(
  `am are can cannot could did do does had has have how is isn't may must shall should was were what what's
  when where where's which who whom whose why will would i'm i`.split(/\s+/),
);

/** Whether a query reads like a question: it ends in a question mark or begins as questions do. */
export function isQuestion(query: string, words: readonly string[]): boolean {
  if (/\?["'\s]*$/.test(query.slice(-20))) return true;
  return words.length >= 4 && OPENERS.has(words[0] ?? "");
}

/** A line that names an exception or an error, or gives its cause. */
export const TELLING_LINE =
  /\b[A-Z]\w{0,60}(?:Error|Exception|Warning|Fault)\b|^\W{0,9}(?:\w{1,20} )?(?:[Ee]rror|ERROR|[Ff]atal|panic|Caused by|Fehler|Erreur)\b[^:]{0,20}:/;

// Predicates of messages in the languages of documentation.
const PREDICATES: ReadonlySet<string> = new Set(
  `is isn't are aren't was wasn't were be been has hasn't have haven't had must mustn't should shouldn't does
  doesn't did didn't do don't cannot can't could couldn't will won't not no failed failing expected unexpected got
  invalid unknown missing undefined unresolved deprecated unable requires required found ist sind war wurde wurden
  wird kann konnte nicht kein keine fehlt muss est sont etait n'est peut impossible introuvable es esta fue puede
  e sono non puo nao foi`.split(/\s+/),
);

/** Whether a query reads like a message: it says that something is so, or begins as errors do. */
export const isStatement = (query: string, unquoted: readonly string[]): boolean =>
  TELLING_LINE.test(query.slice(0, 200)) ||
  unquoted.length >= 12 ||
  (unquoted.length >= 2 && unquoted.some((word) => PREDICATES.has(word)));

/** Words of each language that say nothing by themselves: snippets mark them only if nothing else was asked for. */
export const FUNCTION_WORDS: Readonly<Record<Language, readonly string[]>> = {
  da: `af at da de den der det du eller en er et for fra har hvad hvor hvordan i ikke jeg kan man med men når
    og om på som til ved vi`.split(/\s+/),
  de: `aber als am an auch auf aus bei bin bis da das dass dem den der des die durch ein eine einem einen
    einer eines er es für hat ich ihr im in ist kann man mein mich mit nach nicht noch oder sich sie sind
    so über um und uns von war was wenn wer wie wir wird wo zu zum zur`.split(/\s+/),
  en: `a about after also am an and any are as at be because been before being between but by can could did
    do does for from had has have here how i if in into is it its me my of on or our out over so some such
    than that the their them then there these they this those through to too under very was we were what
    when where whether which who whose why will with within would you your`.split(/\s+/),
  es: `a al como con de del el ella en es esta este la las lo los más mi no nos o para pero por que qué se si
    sin sobre su un una unas unos y yo`.split(/\s+/),
  fi: `ei että he hän ja jos joka kuin kun me mikä minä mitä mutta ne niin ole olla on ovat se sen sinä tai
    te tämä vai vain`.split(/\s+/),
  fr: `à au aux avec ce ces comme dans de des du elle en est et il ils je la le les leur mais ne nous on ou
    où par pas pour qu que qui sa se ses son sur un une vous`.split(/\s+/),
  it: `a ai al alla che chi come con da dal del della delle di e è gli i il in io la le lo ma mi ne nel nella
    non o per più se si su sul un una uno`.split(/\s+/),
  nl: `aan als bij dat de den der die dit door een en er het hoe ik in is je kan met naar niet of om onder
    ook op over te tot uit van voor waar wat we wie wordt ze zijn`.split(/\s+/),
  no: `av at de den der det du eller en er et for fra har hva hvor hvordan i ikke jeg kan man med men når og
    om på som til ved vi`.split(/\s+/),
  pt: `a ao aos as com como da das de do dos e em é eu mais mas na nas no nos o os ou para pela pelo por que
    se sem seu sua um uma`.split(/\s+/),
  ru: `а без бы в во вы где для до его ее если есть же за и из или их к как когда ко кто ли мы на не но о об
    он она они от по при с со так то только у что чтобы это я`.split(/\s+/),
  sv: `att av de den det du eller en er ett för från har hur i inte jag kan man med men när och om på som
    till vad var vi`.split(/\s+/),
};

/**
 * Abbreviations of computing and what they stand for. With `=` each side finds the other; with `>` only the
 * abbreviation finds the rest, because the words alone are used for much else. An entry with `(s)` is one without and
 * one with an s. Names that are commands, or that are short for several things, are left out.
 */
export const ABBREVIATIONS = `
  a11y = accessibility; abi > application binary interface; acl = access control list; addr = address;
  admin = administrator; alloc = allocation; api > application programming interface; app(s) = application(s);
  arch > architecture; arg(s) = argument(s); arr > array; asm = assembly; ast = abstract syntax tree;
  async = asynchronous; attr(s) = attribute(s); auth > authentication; auth > authorization; authn = authentication;
  authz = authorization; aws = amazon web services; bg = background; bin = binary; bool = boolean; btn = button;
  buf = buffer; calc = calculate; cb = callback; cdn = content delivery network; cert(s) = certificate(s);
  cfg = configuration; char(s) = character(s); ci = continuous integration; cli = command line interface;
  cmd = command; cms = content management system; cnt > count; coll > collection; config = configuration;
  conf = configuration; configs = configurations; conn = connection; const = constant; coord(s) = coordinate(s);
  cors = cross-origin resource sharing; cpu > processor; creds = credentials; crud > create read update delete;
  csp = content security policy; csr > certificate signing request; csrf = cross-site request forgery;
  css > stylesheet; csv > comma-separated values; ctor = constructor; ctrl = control; ctx = context;
  cwd = current working directory; db(s) = database(s); dbms = database management system; dec > decimal;
  decl = declaration; def = definition; demo > demonstration; deps = dependencies; dep = dependency;
  desc = description; dest = destination; dst = destination; dev > development;
  dhcp > dynamic host configuration protocol; diff = difference; dir = directory; dirs = directories;
  dist > distribution; distro = distribution; dns > domain name system; doc = documentation; docs = documentation;
  dom = document object model; ddos = denial of service; dsl > domain-specific language; dtor = destructor;
  dup = duplicate; e2e = end-to-end; elem(s) = element(s); enc = encoding; env = environment; eof > end of file;
  eol > end of line; err = error; eval = evaluate; evt > event; exe > executable; exec = execute; expr = expression;
  ext = extension; faq > frequently asked questions; fg = foreground; fk = foreign key; fmt = format;
  fn(s) = function(s); fs = filesystem; func(s) = function(s); gc = garbage collection; gcp = google cloud;
  gen > generate; gfx = graphics; gh = github; gpu > graphics processing unit; gui = graphical user interface;
  gz = gzip; hex = hexadecimal; hmr = hot module replacement; hw = hardware; i18n = internationalization;
  i18n = internationalisation; iam > identity and access management; ide > integrated development environment;
  idx = index; iface = interface; impl = implementation; img(s) = image(s); info = information; init = initialize;
  init = initialization; init = initialise; int(s) = integer(s); interp > interpolation; intl = internationalization;
  io = input output; iot > internet of things; ip > internet protocol; ipc = interprocess communication;
  iter = iterator; jit > just-in-time compilation; js = javascript; jvm > java virtual machine; jwt = json web token;
  k8s = kubernetes; kb > kilobyte; kbd = keyboard; l10n = localization; l10n = localisation; lang(s) = language(s);
  lib = library; libs = libraries; lhs > left-hand side; lb = load balancer; lru > least recently used;
  lsp > language server protocol; lts > long-term support; max = maximum; mb > megabyte; md = markdown; mem = memory;
  mfa = multi-factor authentication; 2fa = two-factor authentication; mgmt = management; mgr = manager;
  min = minimum; misc > miscellaneous; ml = machine learning; mq = message queue; msg(s) = message(s);
  mtu > maximum transmission unit; mut = mutable; mutex = mutual exclusion; mvc > model view controller;
  nav = navigation; neg > negative; nic > network interface; ns = namespace; num(s) = number(s); obj(s) = object(s);
  ocr > optical character recognition; ops = operations; opt(s) = option(s); orig = original;
  orm = object-relational mapping; os = operating system; param(s) = parameter(s); passwd = password; pwd = password;
  pct = percent; pdf > portable document format; perf = performance; perm(s) = permission(s); pg = postgresql;
  postgres = postgresql; pgsql = postgresql; pid = process id; pk = primary key; pkg(s) = package(s);
  poc > proof of concept; pr(s) = pull request(s); prec > precision; pref(s) = preference(s); prev = previous;
  proc > process; procs > processes; prod > production; prog > program; proj = project; prop = property;
  props = properties; proto > protocol; ptr(s) = pointer(s); pub > public; pw = password; py = python;
  qa > quality assurance; qs > query string; qty = quantity; ram > memory; rand = random;
  rbac = role-based access control; rdbms = relational database; rec > record; recv = receive; ref(s) = reference(s);
  regex = regular expression; regexp = regular expression; regex = regexp; regexes = regular expressions;
  repl > interactive shell; repo = repository; repos = repositories; req = request; resp = response; ret > return;
  rev = revision; rfc > request for comments; rhs > right-hand side; rpc = remote procedure call;
  rtl > right-to-left; saas > software as a service; sdk > software development kit; seq = sequence;
  serde > serialization; sig = signature; sla > service level agreement; sln > solution;
  spa = single-page application; spec(s) = specification(s); sqli = sql injection; src = source; srv = server;
  ssl = tls; sso = single sign-on; ssr = server-side rendering; std = standard; stderr = standard error;
  stdin = standard input; stdout = standard output; stmt(s) = statement(s); str(s) = string(s);
  struct(s) = structure(s); svc = service; svg > vector graphics; sync = synchronous; sync = synchronize;
  sys = system; syscall = system call; tbl = table; tcp > transmission control protocol; temp = temporary;
  tmp = temporary; tf = terraform; tls > transport layer security; tmpl = template; tpl = template; ts = typescript;
  ttl = time to live; tx = transaction; txn = transaction; txt = text; ui = user interface; uid = user id;
  undef = undefined; uri > url; url > uri; usr > user; util = utility; utils = utilities; ux = user experience;
  val(s) = value(s); var(s) = variable(s); vcs > version control; vec = vector; ver = version;
  vm(s) = virtual machine(s); vpc = virtual private cloud; vpn > virtual private network;
  vscode = visual studio code; waf > web application firewall; wasm = webassembly; wip > work in progress;
  ws = websocket; xss = cross-site scripting; yml = yaml`;

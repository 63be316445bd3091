/** Sentences in languages whose pages are old enough to be in an encoding of their own, and those encodings. */
export type LanguageSample = { readonly encodings: readonly string[]; readonly sentences: readonly string[] };

export const LANGUAGE_SAMPLES: Readonly<Record<string, LanguageSample>> = {
  Japanese: {
    encodings: ["shift_jis", "euc-jp"],
    sentences: [
      "川の水位が上がると、水門は夜のあいだ閉じられます。",
      "村の人々は毎朝早く市場へ魚と野菜を運びます。",
      "この橋は百年前に大工が石と木で作ったものです。",
      "冬になると風車の羽根には厚い雪が積もりました。",
      "彼女は古い地図を広げて、港までの道を静かに指さした。",
      "新しい時計が届いてから、鐘は一時間ごとに鳴るようになった。",
      "子どもたちは土手で凧をあげ、夕方になると家に帰った。",
      "カメラとノートを持って、記者は灯台の階段をのぼった。",
    ],
  },
  Polish: {
    encodings: ["iso-8859-2", "windows-1250"],
    sentences: [
      "Młynarz otwierał śluzę każdego ranka, zanim łodzie ruszyły w górę rzeki.",
      "Wieś leży nad brzegiem jeziora, w którym żyją węgorze i szczupaki.",
      "Późną jesienią mgła opada na łąki i nie widać już drugiego brzegu.",
      "Dzieci biegły ścieżką wzdłuż pól, śmiejąc się i krzycząc głośno.",
      "Stary dzwon wisi w wieży kościoła od ponad stu pięćdziesięciu lat.",
      "Jeśli woda się podniesie, strażnik zapali światło przy moście.",
      "W księdze zapisano, ile zboża przywieziono w środę na targ.",
      "Ciężkie wozy jeździły tą drogą aż do końca zeszłego wieku.",
    ],
  },
  Czech: {
    encodings: ["iso-8859-2", "windows-1250"],
    sentences: [
      "Mlynář každé ráno otevřel stavidlo, než se lodě vydaly proti proudu řeky.",
      "Vesnice leží u břehu rybníka, ve kterém žijí úhoři a štiky.",
      "Když přijde podzim, mlha zakryje louky a druhý břeh není vidět.",
      "Děti běžely po cestě kolem polí, smály se a křičely na celé kolo.",
      "Starý zvon visí ve věži kostela už více než sto padesát let.",
      "Jestli voda stoupne, hlídač rozsvítí světlo u mostu.",
      "Do knihy zapsali, kolik obilí přivezli ve středu na trh.",
      "Těžké vozy jezdily touto silnicí až do konce minulého století.",
    ],
  },
  Hungarian: {
    encodings: ["iso-8859-2", "windows-1250"],
    sentences: [
      "A molnár minden reggel kinyitotta a zsilipet, mielőtt a hajók elindultak felfelé a folyón.",
      "A falu egy tó partján fekszik, amelyben angolnák és csukák élnek.",
      "Késő ősszel köd ereszkedik a rétekre, és nem látni a túlsó partot.",
      "A gyerekek a földek mentén futottak, nevettek és hangosan kiabáltak.",
      "A régi harang több mint százötven éve függ a templom tornyában.",
      "Ha emelkedik a víz, az őr fényt gyújt a hídnál.",
      "A könyvbe beírták, mennyi gabonát hoztak szerdán a vásárba.",
      "Nehéz szekerek jártak ezen az úton egészen a múlt század végéig.",
    ],
  },
  Russian: {
    encodings: ["windows-1251", "koi8-r"],
    sentences: [
      "Мельник открывал шлюз каждое утро, прежде чем лодки поднимались вверх по реке.",
      "Деревня стоит на берегу озера, в котором водятся угри и щуки.",
      "Поздней осенью туман ложится на луга, и другого берега уже не видно.",
      "Дети бежали по тропинке вдоль полей, смеялись и громко кричали.",
      "Старый колокол висит в башне церкви больше ста пятидесяти лет.",
      "Если вода поднимется, сторож зажжёт огонь у моста.",
      "В книгу записали, сколько зерна привезли в среду на рынок.",
      "Тяжёлые телеги ездили по этой дороге до конца прошлого века.",
    ],
  },
  Bulgarian: {
    encodings: ["windows-1251"],
    sentences: [
      "Мелничарят отваряше шлюза всяка сутрин, преди лодките да тръгнат нагоре по реката.",
      "Селото се намира на брега на езеро, в което живеят змиорки и щуки.",
      "През късната есен мъглата пада над ливадите и другият бряг не се вижда.",
      "Децата тичаха по пътеката край нивите, смееха се и викаха силно.",
      "Старата камбана виси в кулата на църквата повече от сто и петдесет години.",
      "Ако водата се покачи, пазачът ще запали светлина при моста.",
      "В книгата записаха колко зърно са докарали в сряда на пазара.",
      "Тежките коли минаваха по този път до края на миналия век.",
    ],
  },
  Greek: {
    encodings: ["windows-1253", "iso-8859-7"],
    sentences: [
      "Ο μυλωνάς άνοιγε το φράγμα κάθε πρωί, πριν οι βάρκες ανέβουν το ποτάμι.",
      "Το χωριό βρίσκεται στην όχθη μιας λίμνης όπου ζουν χέλια και τούρνες.",
      "Αργά το φθινόπωρο η ομίχλη πέφτει στα λιβάδια και η απέναντι όχθη δεν φαίνεται.",
      "Τα παιδιά έτρεχαν στο μονοπάτι δίπλα στα χωράφια και γελούσαν δυνατά.",
      "Η παλιά καμπάνα κρέμεται στον πύργο της εκκλησίας πάνω από εκατό πενήντα χρόνια.",
      "Αν ανέβει το νερό, ο φύλακας θα ανάψει φως κοντά στη γέφυρα.",
      "Στο βιβλίο έγραψαν πόσο σιτάρι έφεραν την Τετάρτη στην αγορά.",
      "Βαριά κάρα περνούσαν από αυτόν τον δρόμο ως το τέλος του περασμένου αιώνα.",
    ],
  },
  Hebrew: {
    encodings: ["windows-1255"],
    sentences: [
      "הטוחן פתח את הסכר בכל בוקר לפני שהסירות עלו במעלה הנהר.",
      "הכפר שוכן על גדת אגם שבו חיים צלופחים ודגים גדולים.",
      "בסוף הסתיו יורד ערפל על האחו והגדה השנייה אינה נראית עוד.",
      "הילדים רצו בשביל לאורך השדות, צחקו וצעקו בקול רם.",
      "הפעמון הישן תלוי במגדל הכנסייה כבר יותר ממאה וחמישים שנה.",
      "אם יעלו המים, השומר ידליק אור ליד הגשר.",
      "בספר נרשם כמה תבואה הביאו ביום רביעי אל השוק.",
      "עגלות כבדות נסעו בדרך הזאת עד סוף המאה הקודמת.",
    ],
  },
  Arabic: {
    encodings: ["windows-1256"],
    sentences: [
      "كان الطحان يفتح السد كل صباح قبل أن تصعد القوارب في النهر.",
      "تقع القرية على ضفة بحيرة تعيش فيها أسماك كثيرة وطيور الماء.",
      "في أواخر الخريف ينزل الضباب على المروج ولا ترى الضفة الأخرى.",
      "ركض الأطفال في الطريق بجانب الحقول وهم يضحكون ويصرخون بصوت عال.",
      "الجرس القديم معلق في برج الكنيسة منذ أكثر من مئة وخمسين سنة.",
      "إذا ارتفع الماء فإن الحارس سوف يشعل الضوء عند الجسر.",
      "كتبوا في الدفتر كم من القمح جاء إلى السوق يوم الأربعاء.",
      "كانت العربات الثقيلة تسير على هذا الطريق حتى نهاية القرن الماضي.",
    ],
  },
  Thai: {
    encodings: ["windows-874"],
    sentences: [
      "คนเฝ้าประตูน้ำเปิดประตูทุกเช้าก่อนที่เรือจะแล่นทวนน้ำขึ้นไป",
      "หมู่บ้านตั้งอยู่ริมทะเลสาบที่มีปลาไหลและปลาตัวใหญ่อาศัยอยู่มากมาย",
      "ปลายฤดูฝนหมอกลงปกคลุมทุ่งหญ้าจนมองไม่เห็นฝั่งตรงข้าม",
      "เด็กๆ วิ่งไปตามทางข้างทุ่งนา หัวเราะและตะโกนเสียงดัง",
      "ระฆังเก่าแขวนอยู่ในหอของวัดมานานกว่าหนึ่งร้อยห้าสิบปีแล้ว",
      "ถ้าน้ำขึ้นสูง ยามจะจุดไฟที่สะพานให้ทุกคนเห็น",
      "ในสมุดจดไว้ว่าวันพุธมีข้าวมาที่ตลาดมากเท่าใด",
      "เกวียนหนักเคยวิ่งบนถนนสายนี้จนถึงปลายศตวรรษที่แล้ว",
    ],
  },
  "Chinese, simplified": {
    encodings: ["gbk"],
    sentences: [
      "每天早晨，守闸的人打开水门，船只才能逆流而上。",
      "村庄坐落在湖边，湖里生活着鳗鱼和许多大鱼。",
      "深秋的时候，雾气笼罩着草地，看不见对面的河岸。",
      "孩子们沿着田边的小路奔跑，大声地笑着喊着。",
      "那口古老的钟挂在塔楼里已经有一百五十多年了。",
      "如果水位上涨，看守人会在桥边点亮灯光。",
      "账本上记录着星期三运到市场的粮食有多少。",
      "直到上个世纪末，沉重的马车还在这条路上行驶。",
    ],
  },
  "Chinese, traditional": {
    encodings: ["big5"],
    sentences: [
      "每天早晨，守閘的人打開水門，船隻才能逆流而上。",
      "村莊坐落在湖邊，湖裡生活著鰻魚和許多大魚。",
      "深秋的時候，霧氣籠罩著草地，看不見對面的河岸。",
      "孩子們沿著田邊的小路奔跑，大聲地笑著喊著。",
      "那口古老的鐘掛在塔樓裡已經有一百五十多年了。",
      "如果水位上漲，看守人會在橋邊點亮燈光。",
      "帳本上記錄著星期三運到市場的糧食有多少。",
      "直到上個世紀末，沉重的馬車還在這條路上行駛。",
    ],
  },
  Korean: {
    encodings: ["euc-kr"],
    sentences: [
      "물이 불어나면 수문은 밤새 닫혀 있고 배들은 강가에서 기다립니다.",
      "마을 사람들은 매일 아침 일찍 시장으로 생선과 채소를 나릅니다.",
      "이 다리는 백 년 전에 목수들이 돌과 나무로 만든 것입니다.",
      "겨울이 되면 풍차의 날개에는 두꺼운 눈이 쌓였습니다.",
      "그녀는 낡은 지도를 펴고 항구로 가는 길을 조용히 가리켰다.",
      "새 시계가 도착한 뒤로 종은 한 시간마다 울리게 되었다.",
      "아이들은 둑에서 연을 날리고 저녁이 되면 집으로 돌아갔다.",
      "기자는 사진기와 공책을 들고 등대의 계단을 올라갔다.",
    ],
  },
  French: {
    encodings: ["windows-1252"],
    sentences: [
      "Le meunier ouvrait l’écluse chaque matin avant que les bateaux ne remontent la rivière.",
      "Le village se trouve au bord d’un étang où vivent des anguilles et des brochets.",
      "À la fin de l’automne, la brume tombe sur les prés et l’autre rive n’apparaît plus.",
      "Les élèves couraient le long des blés, riaient et criaient à tue-tête.",
      "La vieille cloche est accrochée à la tour de l’église depuis près de deux siècles.",
      "Si l’eau s’élève, le gardien allumera un feu près du pont dès ce soir.",
      "On a noté dans le registre la quantité de blé portée au marché le mercredi.",
      "Des charrettes très lourdes ont roulé là jusqu’à la fin du siècle passé.",
    ],
  },
  German: {
    encodings: ["windows-1252"],
    sentences: [
      "Der Müller öffnete jeden Morgen die Schleuse, bevor die Kähne flussaufwärts fuhren.",
      "Das Dorf liegt am Ufer eines Sees, in dem Aale und große Hechte leben.",
      "Im späten Herbst fällt Nebel auf die Wiesen, und das andere Ufer ist nicht zu sehen.",
      "Die Kinder liefen über die Felder, lachten und riefen so laut sie könnten.",
      "Die alte Glocke hängt seit über hundertfünfzig Jahren im Turm der Kirche.",
      "Wenn das Wasser höher steigt, zündet der Wächter ein Licht an der Brücke an.",
      "Im Buch steht, wie viel Getreide am Mittwoch für den Markt geführt wurde.",
      "Schwere Wagen fuhren auf dieser Straße bis zum Ende des vorigen Jahrhunderts.",
    ],
  },
  Spanish: {
    encodings: ["windows-1252"],
    sentences: [
      "El molinero abría la compuerta cada mañana antes de que las barcas subieran por el río.",
      "El pueblo está a la orilla de una laguna donde viven anguilas y peces pequeños.",
      "A finales del otoño la niebla cae sobre los prados y ya no se ve la otra orilla.",
      "Los niños corrían por el camino junto a los campos, reían y gritaban más que nunca.",
      "La campana cuelga en la torre de la iglesia desde hace más de ciento cincuenta años.",
      "Si sube el agua, el guardián encenderá una luz junto al puente.",
      "En el libro apuntaron cuánto trigo llegó el miércoles al mercado.",
      "¿Quién recuerda todavía los carros que pasaban por aquí el siglo pasado?",
    ],
  },
};

/** Text in an encoding of one or two bytes a character, the other way round than the runtime's decoder. */
export function encodeAs(text: string, encoding: string): Uint8Array {
  const codes = codesOf(encoding);
  return Uint8Array.from(
    [...text].flatMap((character) => {
      const code = codes.get(character);
      if (code === undefined) throw new Error(`${JSON.stringify(character)} is not in ${encoding}`);
      return code;
    }),
  );
}

const TABLES = new Map<string, ReadonlyMap<string, readonly number[]>>();

function codesOf(encoding: string): ReadonlyMap<string, readonly number[]> {
  const known = TABLES.get(encoding);
  if (known) return known;
  const decoder = new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0], { fatal: true });
  const codes = new Map<string, readonly number[]>();
  const note = (...bytes: number[]): void => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes));
      if ([...character].length === 1 && !codes.has(character)) codes.set(character, bytes);
    } catch {
      // These bytes are no character of it.
    }
  };
  for (let byte = 0; byte < 256; byte++) note(byte);
  if (/^(?:shift_jis|euc-|big5|gb)/.test(encoding))
    for (let lead = 0x81; lead < 255; lead++) for (let trail = 0x40; trail < 255; trail++) note(lead, trail);
  TABLES.set(encoding, codes);
  return codes;
}

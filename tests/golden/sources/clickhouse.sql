-- the top rows
SELECT best.item0 AS name0, best.n AS n FROM (SELECT item0, COUNT(*) AS n FROM (SELECT DISTINCT rows_."article" AS item0, rows_."user_id" AS u FROM views AS rows_ WHERE NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AS pairs GROUP BY item0 ORDER BY n DESC, item0 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC;

-- a condition of every kind
SELECT best.item0 AS name0, best.n AS n FROM (SELECT item0, COUNT(*) AS n FROM (SELECT DISTINCT rows_."article" AS item0, rows_."user_id" AS u FROM views AS rows_ WHERE (((rows_."article" <> 'O''Brien\\') AND (rows_."article" LIKE '50\\%\\_!%\\\\_') AND (((rows_."tags" IS NULL) OR (NOT (rows_."price" IN (toDecimal128('1.5', 2), toDecimal128('2', 2)))))) AND (rows_."price" <= toDecimal128('1.00', 2)) AND (rows_."paid" = TRUE) AND ((rows_."day" >= toDate32('2024-01-01')) AND (rows_."day" <= toDate32('2024-12-31'))) AND (rows_."at" >= fromUnixTimestamp64Micro(toInt64('1704112200000001'), 'UTC')) AND (rows_."user_id" > toInt64('-9223372036854775808')) AND (rows_."user_id" < toInt256('18446744073709551616'))) AND NOT (rows_."user_id" IS NULL)) AND isValidUTF8(rows_."article")) AS pairs GROUP BY item0 ORDER BY n DESC, item0 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC;

-- at most three items of each user
SELECT best.item0 AS name0, toString(best.item1) AS name1, toString(toUnixTimestamp64Micro(best.item2)) AS name2, best.n AS n FROM (SELECT item0, item1, item2, COUNT(*) AS n FROM (SELECT ranked.item0 AS item0, ranked.item1 AS item1, ranked.item2 AS item2 FROM (SELECT sized.item0 AS item0, sized.item1 AS item1, sized.item2 AS item2, ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY CASE WHEN sized.t > 3 THEN LOWER(HEX(MD5('0123456789abcdef0123456789abcdef' || ':' || toString(lengthUTF8(sized.u)) || ':' || sized.u || ':' || toString(lengthUTF8(sized.item0)) || ':' || sized.item0 || ':' || toString(sized.item1) || ':' || toString(toUnixTimestamp64Micro(sized.item2))))) END ASC, sized.item0 ASC, sized.item1 ASC, sized.item2 ASC) AS place FROM (SELECT pairs.u AS u, pairs.item0 AS item0, pairs.item1 AS item1, pairs.item2 AS item2, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT DISTINCT rows_."article" AS u, rows_."article" AS item0, rows_."price" AS item1, rows_."at" AS item2 FROM views AS rows_ WHERE ((isValidUTF8(rows_."article") AND isValidUTF8(rows_."article")) AND NOT (rows_."price" IS NULL)) AND rows_."at" BETWEEN fromUnixTimestamp64Micro(toInt64('-62135596800000000'), 'UTC') AND fromUnixTimestamp64Micro(toInt64('253402300799999999'), 'UTC')) AS pairs) AS sized) AS ranked WHERE ranked.place <= 3) AS pairs GROUP BY item0, item1, item2 ORDER BY n DESC, item0 ASC, item1 ASC, item2 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC, best.item1 ASC, best.item2 ASC;

-- a list beside other columns
SELECT best.item0 AS name0, toString(best.item1) AS name1, CASE WHEN best.item2 THEN 'true' ELSE 'false' END AS name2, best.n AS n FROM (SELECT item0, item1, item2, COUNT(*) AS n FROM (SELECT DISTINCT elements.item0 AS item0, elements.item1 AS item1, elements.item2 AS item2, elements.u AS u FROM (SELECT rows_."user_id" AS u, arrayJoin(rows_."tags") AS item0, rows_."day" AS item1, rows_."paid" AS item2 FROM views AS rows_ WHERE rows_."article" IS NULL) AS elements WHERE ((NOT (elements.u IS NULL) AND isValidUTF8(elements.item0)) AND elements.item1 BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31')) AND NOT (elements.item2 IS NULL)) AS pairs GROUP BY item0, item1, item2 ORDER BY n DESC, item0 ASC, item1 ASC, item2 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC, best.item1 ASC, best.item2 ASC;

-- every count, kept
CREATE TEMPORARY TABLE counts AS SELECT item0, COUNT(*) AS n FROM (SELECT DISTINCT rows_."article" AS item0, rows_."user_id" AS u FROM views AS rows_ WHERE NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AS pairs GROUP BY item0;

-- counts of counts
SELECT n, COUNT(*) AS m FROM counts GROUP BY n;

-- names by rank
SELECT ranked.n, ranked.r, ranked.item0 AS name0 FROM (SELECT item0, n, ROW_NUMBER() OVER (PARTITION BY n ORDER BY item0 ASC) - 1 AS r FROM counts WHERE n IN (2, 7)) AS ranked WHERE (ranked.n IN (2) AND ranked.r IN (5, 9)) OR (ranked.n IN (7) AND ranked.r IN (0));

-- a domain given by its size, kept
CREATE TEMPORARY TABLE counts AS SELECT item0, COUNT(*) AS n FROM (SELECT DISTINCT rows_."user_id" AS item0, rows_."article" AS u FROM views AS rows_ WHERE (isValidUTF8(rows_."article") AND NOT (rows_."user_id" IS NULL)) AND rows_."user_id" BETWEEN toInt64('0') AND toInt64('999')) AS pairs GROUP BY item0;

-- items that nobody has, by rank
SELECT r, COUNT(*) AS m FROM (SELECT CASE WHEN unseen <= 0 THEN 0 ELSE 1 END AS r FROM (SELECT item0 - (ROW_NUMBER() OVER (ORDER BY item0 ASC) - 1) AS unseen FROM counts) AS ranked WHERE unseen <= 41) AS best GROUP BY r;

-- a listed domain, kept
CREATE TEMPORARY TABLE counts AS SELECT listed.item0 AS item0, COALESCE(counted.n, 0) AS n FROM (SELECT DISTINCT rows_."article" AS item0 FROM articles AS rows_ WHERE isValidUTF8(rows_."article")) AS listed LEFT JOIN (SELECT item0, COUNT(*) AS n FROM (SELECT DISTINCT rows_."article" AS item0, rows_."user_id" AS u FROM views AS rows_ WHERE NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AS pairs GROUP BY item0) AS counted ON listed.item0 = counted.item0;

-- a listed domain, one item of each user, kept
CREATE TEMPORARY TABLE counts AS SELECT listed.item0 AS item0, COALESCE(counted.n, 0) AS n FROM (SELECT DISTINCT rows_."article" AS item0 FROM articles AS rows_ WHERE isValidUTF8(rows_."article")) AS listed LEFT JOIN (SELECT item0, COUNT(*) AS n FROM (SELECT ranked.item0 AS item0 FROM (SELECT sized.item0 AS item0, ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY CASE WHEN sized.t > 1 THEN LOWER(HEX(MD5('0123456789abcdef0123456789abcdef' || ':' || toString(sized.u) || ':' || toString(lengthUTF8(sized.item0)) || ':' || sized.item0))) END ASC, sized.item0 ASC) AS place FROM (SELECT pairs.u AS u, pairs.item0 AS item0, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT pairs.u AS u, pairs.item0 AS item0 FROM (SELECT DISTINCT rows_."user_id" AS u, rows_."article" AS item0 FROM views AS rows_ WHERE NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AS pairs JOIN (SELECT DISTINCT rows_."article" AS item0 FROM articles AS rows_ WHERE isValidUTF8(rows_."article")) AS listed ON pairs.item0 = listed.item0) AS pairs) AS sized) AS ranked WHERE ranked.place <= 1) AS pairs GROUP BY item0) AS counted ON listed.item0 = counted.item0;

-- the top rows of a listed domain
SELECT best.item0 AS name0, best.n AS n FROM (SELECT item0, COUNT(*) AS n FROM (SELECT pairs.u AS u, pairs.item0 AS item0 FROM (SELECT DISTINCT rows_."article" AS item0, rows_."user_id" AS u FROM views AS rows_ WHERE NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AS pairs JOIN (SELECT DISTINCT rows_."article" AS item0 FROM articles AS rows_ WHERE isValidUTF8(rows_."article")) AS listed ON pairs.item0 = listed.item0) AS pairs GROUP BY item0 ORDER BY n DESC, item0 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC;

-- weights, without some items
SELECT best.item0 AS name0, best.n AS n FROM (SELECT item0, SUM(w) AS n FROM (SELECT ranked.item0 AS item0, ranked.w AS w FROM (SELECT sized.item0 AS item0, CASE WHEN sized.t <= 1 THEN 1024 WHEN sized.t <= 2 THEN 724 ELSE 32 END AS w, ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY CASE WHEN sized.t > 1000 THEN LOWER(HEX(MD5('0123456789abcdef0123456789abcdef' || ':' || toString(sized.u) || ':' || toString(lengthUTF8(sized.item0)) || ':' || sized.item0))) END ASC, sized.item0 ASC) AS place FROM (SELECT pairs.u AS u, pairs.item0 AS item0, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT DISTINCT rows_."user_id" AS u, rows_."article" AS item0 FROM views AS rows_ WHERE (NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AND NOT (rows_."article" IN (SELECT left_out.article FROM articles AS left_out))) AS pairs) AS sized) AS ranked WHERE ranked.place <= 1000) AS pairs GROUP BY item0 ORDER BY n DESC, item0 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC;

-- weights in a listed domain, kept
CREATE TEMPORARY TABLE counts AS SELECT listed.item0 AS item0, COALESCE(counted.n, 0) AS n FROM (SELECT DISTINCT rows_."article" AS item0 FROM articles AS rows_ WHERE isValidUTF8(rows_."article")) AS listed LEFT JOIN (SELECT item0, SUM(w) AS n FROM (SELECT ranked.item0 AS item0, ranked.w AS w FROM (SELECT sized.item0 AS item0, CASE WHEN sized.t <= 1 THEN 1024 WHEN sized.t <= 2 THEN 724 ELSE 32 END AS w, ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY CASE WHEN sized.t > 1000 THEN LOWER(HEX(MD5('0123456789abcdef0123456789abcdef' || ':' || toString(sized.u) || ':' || toString(lengthUTF8(sized.item0)) || ':' || sized.item0))) END ASC, sized.item0 ASC) AS place FROM (SELECT pairs.u AS u, pairs.item0 AS item0, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT pairs.u AS u, pairs.item0 AS item0 FROM (SELECT DISTINCT rows_."user_id" AS u, rows_."article" AS item0 FROM views AS rows_ WHERE (NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AND NOT (rows_."article" IN (SELECT left_out.article FROM articles AS left_out))) AS pairs JOIN (SELECT DISTINCT rows_."article" AS item0 FROM articles AS rows_ WHERE isValidUTF8(rows_."article")) AS listed ON pairs.item0 = listed.item0) AS pairs) AS sized) AS ranked WHERE ranked.place <= 1000) AS pairs GROUP BY item0) AS counted ON listed.item0 = counted.item0;

-- pairs from lists, without some
SELECT best.item0 AS name0, toString(best.item1) AS name1, best.n AS n FROM (SELECT item0, item1, COUNT(*) AS n FROM (SELECT DISTINCT elements.item0 AS item0, elements.item1 AS item1, elements.u AS u FROM (SELECT rows_."user_id" AS u, arrayJoin(rows_."tags") AS item0, rows_."day" AS item1 FROM views AS rows_ WHERE rows_."article" <> 'O''Brien\\') AS elements WHERE ((NOT (elements.u IS NULL) AND isValidUTF8(elements.item0)) AND elements.item1 BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31')) AND NOT ((elements.item0, elements.item1) IN (SELECT left_out.article, left_out.day FROM gone AS left_out))) AS pairs GROUP BY item0, item1 ORDER BY n DESC, item0 ASC, item1 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC, best.item1 ASC;

-- how many items users have
SELECT COALESCE(SUM(CASE WHEN t >= 1 AND t < 2 THEN m ELSE 0 END), 0) AS m0, COALESCE(SUM(CASE WHEN t >= 2 AND t < 8 THEN m ELSE 0 END), 0) AS m1, COALESCE(SUM(CASE WHEN t >= 8 THEN m ELSE 0 END), 0) AS m2 FROM (SELECT t, COUNT(*) AS m FROM (SELECT COUNT(*) AS t FROM (SELECT DISTINCT rows_."user_id" AS u, rows_."article" AS item0 FROM views AS rows_ WHERE (NOT (rows_."user_id" IS NULL) AND isValidUTF8(rows_."article")) AND NOT (rows_."article" IN (SELECT left_out.article FROM articles AS left_out))) AS pairs GROUP BY u) AS sized GROUP BY t) AS tallied;

-- the pairs of all rounds, kept
CREATE TEMPORARY TABLE kept AS SELECT DISTINCT elements.u AS u, elements.item0 AS item0, elements.item1 AS item1 FROM (SELECT rows_."user_id" AS u, arrayJoin(rows_."tags") AS item0, rows_."day" AS item1 FROM views AS rows_ WHERE rows_."article" <> 'O''Brien\\') AS elements WHERE (NOT (elements.u IS NULL) AND isValidUTF8(elements.item0)) AND elements.item1 BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31');

-- weights of kept pairs, kept
CREATE TEMPORARY TABLE counts AS SELECT item0, SUM(w) AS n FROM (SELECT ranked.item0 AS item0, ranked.w AS w FROM (SELECT sized.item0 AS item0, CASE WHEN sized.t <= 1 THEN 1024 WHEN sized.t <= 2 THEN 724 ELSE 32 END AS w, ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY CASE WHEN sized.t > 1000 THEN LOWER(HEX(MD5('0123456789abcdef0123456789abcdef' || ':' || toString(sized.u) || ':' || toString(lengthUTF8(sized.item0)) || ':' || sized.item0))) END ASC, sized.item0 ASC) AS place FROM (SELECT pairs.u AS u, pairs.item0 AS item0, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT rows_.u AS u, rows_.item0 AS item0 FROM kept AS rows_) AS pairs) AS sized) AS ranked WHERE ranked.place <= 1000) AS pairs GROUP BY item0;

-- weights of kept pairs, without some items, kept
CREATE TEMPORARY TABLE counts AS SELECT item0, SUM(w) AS n FROM (SELECT ranked.item0 AS item0, ranked.w AS w FROM (SELECT sized.item0 AS item0, CASE WHEN sized.t <= 1 THEN 1024 WHEN sized.t <= 2 THEN 724 ELSE 32 END AS w, ROW_NUMBER() OVER (PARTITION BY sized.u ORDER BY CASE WHEN sized.t > 1000 THEN LOWER(HEX(MD5('0123456789abcdef0123456789abcdef' || ':' || toString(sized.u) || ':' || toString(lengthUTF8(sized.item0)) || ':' || sized.item0))) END ASC, sized.item0 ASC) AS place FROM (SELECT pairs.u AS u, pairs.item0 AS item0, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT rows_.u AS u, rows_.item0 AS item0 FROM kept AS rows_ WHERE NOT (rows_.item0 IN (SELECT left_out.article FROM articles AS left_out))) AS pairs) AS sized) AS ranked WHERE ranked.place <= 1000) AS pairs GROUP BY item0;

-- the kept pairs of some items, kept
CREATE TEMPORARY TABLE among AS SELECT pairs.u AS u, pairs.item0 AS item0, pairs.item1 AS item1 FROM (SELECT rows_.u AS u, rows_.item0 AS item0, rows_.item1 AS item1 FROM kept AS rows_) AS pairs JOIN (SELECT DISTINCT rows_."article" AS item0, rows_."day" AS item1 FROM gone AS rows_ WHERE isValidUTF8(rows_."article") AND rows_."day" BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31')) AS listed ON pairs.item0 = listed.item0 AND pairs.item1 = listed.item1;

-- some items by how many of them users have, kept
CREATE TEMPORARY TABLE by_size AS SELECT item0, item1, t, COUNT(*) AS m FROM (SELECT pairs.item0 AS item0, pairs.item1 AS item1, COUNT(*) OVER (PARTITION BY pairs.u) AS t FROM (SELECT rows_.u AS u, rows_.item0 AS item0, rows_.item1 AS item1 FROM kept AS rows_) AS pairs) AS sized GROUP BY item0, item1, t;

-- users by how many of some items they have
SELECT t, SUM(m) AS n FROM by_size GROUP BY t;

-- weighted sums of some items
SELECT best.item0 AS name0, toString(best.item1) AS name1, best.n AS n FROM (SELECT item0, item1, SUM(m * (CASE WHEN t <= 1 THEN 1024 WHEN t <= 2 THEN 724 ELSE 32 END)) AS n FROM by_size GROUP BY item0, item1) AS best;

-- the rows of a view, kept
CREATE TEMPORARY TABLE kept AS SELECT rows_."user_id" AS "user_id", rows_."article" AS "article", rows_."day" AS "day" FROM views AS rows_;

-- a view
SELECT best.item0 AS name0, best.n AS n FROM (SELECT item0, COUNT(*) AS n FROM (SELECT DISTINCT rows_."article" AS item0, rows_."user_id" AS u FROM kept AS rows_ WHERE (rows_."day" IS NULL AND NOT (rows_."user_id" IS NULL)) AND isValidUTF8(rows_."article")) AS pairs GROUP BY item0 ORDER BY n DESC, item0 ASC LIMIT 11) AS best ORDER BY best.n DESC, best.item0 ASC;

// franz-go as its users use it. Usage: franz BOOTSTRAP, or franz BOOTSTRAP load TOPIC NAME RECORDS PER_SECOND
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	bootstrap      = os.Args[1]
	run            = fmt.Sprintf("franz-%x", time.Now().UnixNano())
	ctx            context.Context
	admin          *kadm.Client
	passed, failed int
)

func check(name string, body func() error) {
	began := time.Now()
	if err := body(); err != nil {
		failed++
		fmt.Printf("FAIL %s: %v\n", name, err)
		return
	}
	passed++
	fmt.Printf("PASS %s (%d ms)\n", name, time.Since(began).Milliseconds())
}

func client(options ...kgo.Opt) *kgo.Client {
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(strings.Split(bootstrap, ",")...)}, options...)...)
	if err != nil {
		panic(err)
	}
	return c
}

func create(topic string, partitions int32) error {
	_, err := admin.CreateTopic(ctx, partitions, -1, nil, topic)
	return err
}

// take polls until count records came or the time is up.
func take(c *kgo.Client, count int, wait time.Duration) ([]*kgo.Record, error) {
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var taken []*kgo.Record
	for len(taken) < count {
		fetches := c.PollFetches(bounded)
		if bounded.Err() != nil {
			break
		}
		for _, e := range fetches.Errors() {
			return taken, e.Err
		}
		taken = append(taken, fetches.Records()...)
	}
	return taken, nil
}

// readAll reads partition 0 from its start: count records, and a second more for those that should not come.
func readAll(topic string, count int, options ...kgo.Opt) ([]*kgo.Record, error) {
	from := map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}
	c := client(append(options, kgo.ConsumePartitions(from))...)
	defer c.Close()
	taken, err := take(c, count, 30*time.Second)
	if err != nil {
		return nil, err
	}
	more, err := take(c, 1, time.Second)
	return append(taken, more...), err
}

func values(records []*kgo.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, string(r.Value))
	}
	return strings.Join(all, ",")
}

func checkCreate() error {
	if err := create(run, 3); err != nil {
		return err
	}
	topics, err := admin.ListTopics(ctx, run)
	if err != nil || len(topics[run].Partitions) != 3 {
		return fmt.Errorf("partitions: %v %v", topics[run].Partitions, err)
	}
	if err := create(run, 3); !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("second create: %v", err)
	}
	return nil
}

func checkCodecs() error {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	for name, codec := range codecs {
		topic := run + "-" + name
		if err := create(topic, 1); err != nil {
			return err
		}
		var written []*kgo.Record
		for i := 0; i < 1000; i++ {
			n := strconv.Itoa(i)
			written = append(written, &kgo.Record{Key: []byte("k" + n), Value: []byte(strings.Repeat("v"+n, 1+i%500)),
				Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}}})
		}
		written = append(written, &kgo.Record{Value: []byte{}}, &kgo.Record{Key: []byte{}})
		p := client(kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codec))
		err := p.ProduceSync(ctx, written...).FirstErr()
		p.Close()
		if err != nil {
			return err
		}
		back, err := readAll(topic, len(written))
		if err != nil || len(back) != len(written) {
			return fmt.Errorf("%s: %d records, %v", name, len(back), err)
		}
		for i, r := range back {
			w := written[i]
			if r.Offset != int64(i) || string(r.Key) != string(w.Key) || string(r.Value) != string(w.Value) ||
				(r.Key == nil) != (w.Key == nil) || (r.Value == nil) != (w.Value == nil) || len(r.Headers) != len(w.Headers) {
				return fmt.Errorf("%s: record %d is %v", name, i, r)
			}
		}
	}
	return nil
}

func checkIdempotent() error {
	topic := run + "-idempotent"
	if err := create(topic, 1); err != nil {
		return err
	}
	p := client(kgo.DefaultProduceTopic(topic)) // idempotent unless told otherwise
	defer p.Close()
	var written []*kgo.Record
	for i := 0; i < 5000; i++ {
		written = append(written, kgo.StringRecord(strconv.Itoa(i)))
	}
	if err := p.ProduceSync(ctx, written...).FirstErr(); err != nil {
		return err
	}
	back, err := readAll(topic, len(written))
	if err != nil || values(back) != values(written) {
		return fmt.Errorf("%d records, %v", len(back), err)
	}
	return nil
}

func checkByTime() error {
	topic := run + "-time"
	if err := create(topic, 1); err != nil {
		return err
	}
	now := time.Now().Add(-100 * time.Second).Truncate(time.Millisecond)
	p := client(kgo.DefaultProduceTopic(topic))
	defer p.Close()
	for i := 0; i < 5; i++ {
		r := &kgo.Record{Value: []byte("v"), Timestamp: now.Add(time.Duration(i) * time.Second)}
		if err := p.ProduceSync(ctx, r).FirstErr(); err != nil {
			return err
		}
	}
	found, err := admin.ListOffsetsAfterMilli(ctx, now.UnixMilli()+1500, topic)
	if err != nil {
		return err
	}
	if o, _ := found.Lookup(topic, 0); o.Offset != 2 || o.Err != nil {
		return fmt.Errorf("first at or after: %v", o)
	}
	return nil
}

func checkGroup() error {
	topic := run + "-group"
	if err := create(topic, 4); err != nil {
		return err
	}
	p := client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic))
	defer p.Close()
	for i := 0; i < 400; i++ {
		r := kgo.StringRecord(strconv.Itoa(i))
		r.Partition = int32(i % 4)
		p.Produce(ctx, r, nil)
	}
	if err := p.Flush(ctx); err != nil {
		return err
	}
	member := func() *kgo.Client {
		return client(kgo.ConsumerGroup(topic), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.Balancers(kgo.CooperativeStickyBalancer()))
	}
	first, second := member(), member()
	seen := map[string]bool{}
	shares := map[int]int{}
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); {
		for _, c := range []*kgo.Client{first, second} {
			records, err := take(c, 1, 200*time.Millisecond)
			if err != nil {
				return err
			}
			for _, r := range records {
				seen[string(r.Value)] = true
			}
		}
		groups, err := admin.DescribeGroups(ctx, topic)
		if err != nil {
			return err
		}
		shares = map[int]int{}
		for i, m := range groups[topic].Members {
			if a, ok := m.Assigned.AsConsumer(); ok && len(a.Topics) > 0 {
				shares[i] = len(a.Topics[0].Partitions)
			}
		}
		if len(seen) == 400 && len(shares) == 2 && shares[0] == 2 && shares[1] == 2 {
			break
		}
	}
	if len(seen) != 400 || len(shares) != 2 || shares[0] != 2 || shares[1] != 2 {
		return fmt.Errorf("%d different records, shares %v", len(seen), shares)
	}
	for _, c := range []*kgo.Client{first, second} {
		if err := c.CommitUncommittedOffsets(ctx); err != nil {
			return err
		}
		c.Close()
	}
	later := kgo.StringRecord("later")
	later.Partition = 2
	if err := p.ProduceSync(ctx, later).FirstErr(); err != nil {
		return err
	}
	third := member()
	defer third.Close()
	records, err := take(third, 1, 30*time.Second)
	if more, _ := take(third, 1, time.Second); err != nil || values(append(records, more...)) != "later" {
		return fmt.Errorf("after the commit: %s, %v", values(append(records, more...)), err)
	}
	return nil
}

func checkTransactions() error {
	topic := run + "-transactions"
	if err := create(topic, 1); err != nil {
		return err
	}
	p := client(kgo.TransactionalID(run), kgo.DefaultProduceTopic(topic))
	defer p.Close()
	for _, step := range []struct {
		value string
		end   kgo.TransactionEndTry
	}{{"a", kgo.TryCommit}, {"b", kgo.TryAbort}, {"c", kgo.TryCommit}} {
		if err := p.BeginTransaction(); err != nil {
			return err
		}
		if err := p.ProduceSync(ctx, kgo.StringRecord(step.value)).FirstErr(); err != nil {
			return err
		}
		if err := p.EndTransaction(ctx, step.end); err != nil {
			return err
		}
	}
	committed, err := readAll(topic, 2, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil || values(committed) != "a,c" {
		return fmt.Errorf("read_committed: %s, %v", values(committed), err)
	}
	everything, err := readAll(topic, 3, kgo.FetchIsolationLevel(kgo.ReadUncommitted()))
	if err != nil || values(everything) != "a,b,c" {
		return fmt.Errorf("read_uncommitted: %s, %v", values(everything), err)
	}
	return nil
}

func checkDelete() error {
	topic := run + "-time"
	if _, err := admin.DeleteRecords(ctx, kadm.Offsets{topic: {0: {Topic: topic, Partition: 0, At: 3}}}); err != nil {
		return err
	}
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return err
	}
	if o, _ := starts.Lookup(topic, 0); o.Offset != 3 {
		return fmt.Errorf("log start: %d", o.Offset)
	}
	if _, err := admin.DeleteTopics(ctx, topic); err != nil {
		return err
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		topics, err := admin.ListTopics(ctx)
		if err != nil {
			return err
		}
		if !topics.Has(topic) {
			return nil
		}
	}
	return errors.New("the topic does not go")
}

func main() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	admin = kadm.NewClient(client())
	if len(os.Args) > 2 && os.Args[2] == "load" {
		loadFromArguments()
		return
	}
	fmt.Println("# franz-go")
	check("create", checkCreate)
	check("codecs", checkCodecs)
	check("idempotent", checkIdempotent)
	check("by-time", checkByTime)
	check("group", checkGroup)
	check("transactions", checkTransactions)
	check("delete", checkDelete)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

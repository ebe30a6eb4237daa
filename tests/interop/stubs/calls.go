// Calls a sidecar through the Go stubs alone and fails unless the answers are right.
//
//	calls HOST:PORT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	ttlv1 "github.com/ttl-sidecar/ttl-sidecar/protos/ttl/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	container  = "go/sessions"
	defaultTTL = int64(100)
)

func must(err error, call string) {
	if err != nil {
		log.Fatalf("%s: %v", call, err)
	}
}

func expect(name string, got, want interface{}) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		log.Fatalf("%s is %v, not %v", name, got, want)
	}
}

func item(id string, ts int64, ttl *int64) *ttlv1.Item {
	return &ttlv1.Item{PartitionKey: []byte("p"), Id: []byte(id), Ts: ts, Ttl: ttl}
}

func checkPolicies(ctx context.Context, containers ttlv1.ContainerServiceClient) {
	ttl := defaultTTL
	for id, defaultTTL := range map[string]*int64{container: &ttl, "go/off": nil} {
		_, err := containers.CreateContainer(ctx, &ttlv1.CreateContainerRequest{
			Container: &ttlv1.Container{Id: id, DefaultTtl: defaultTTL}})
		must(err, "CreateContainer")
		got, err := containers.GetContainer(ctx, &ttlv1.GetContainerRequest{Id: id})
		must(err, "GetContainer")
		expect("presence of default_ttl of "+id, got.Container.DefaultTtl != nil, defaultTTL != nil)
		expect("default_ttl of "+id, got.Container.GetDefaultTtl(), func() int64 {
			if defaultTTL == nil {
				return 0
			}
			return *defaultTTL
		}())
	}
}

func checkItems(ctx context.Context, items ttlv1.ItemServiceClient) {
	now, never, none := time.Now().Unix(), int64(-1), int64(0)
	tracked, err := items.TrackItems(ctx, &ttlv1.TrackItemsRequest{
		Container: container,
		Items:     []*ttlv1.Item{item("old", now-200, nil), item("new", now, nil), item("kept", now-200, &never)}})
	must(err, "TrackItems")
	expect("number of results", len(tracked.Results), 3)

	checks := &ttlv1.CheckVisibilityRequest{Container: container}
	for _, id := range []string{"old", "new", "kept", "unknown"} {
		checks.Checks = append(checks.Checks, &ttlv1.VisibilityCheck{PartitionKey: []byte("p"), Id: []byte(id)})
	}
	wanted := []ttlv1.Visibility{ttlv1.Visibility_VISIBILITY_EXPIRED, ttlv1.Visibility_VISIBILITY_VISIBLE,
		ttlv1.Visibility_VISIBILITY_VISIBLE, ttlv1.Visibility_VISIBILITY_UNTRACKED}
	checked, err := items.CheckVisibility(ctx, checks)
	must(err, "CheckVisibility")
	expect("visibilities", checked.Visibilities, wanted)
	expect("expire times", checked.ExpireTimes, []int64{now - 200 + defaultTTL, now + defaultTTL, 0, 0})

	stream, err := items.StreamCheckVisibility(ctx)
	must(err, "StreamCheckVisibility")
	must(stream.Send(&ttlv1.StreamCheckVisibilityRequest{Request: checks}), "Send")
	must(stream.CloseSend(), "CloseSend")
	answer, err := stream.Recv()
	must(err, "Recv")
	expect("visibilities of the stream", answer.GetResponse().GetVisibilities(), wanted)

	_, err = items.TrackItems(ctx, &ttlv1.TrackItemsRequest{
		Container: container, Items: []*ttlv1.Item{item("zero", now, &none)}})
	expect("code for ttl 0", status.Code(err), codes.InvalidArgument)
	expect("whether the message for ttl 0 names the field", strings.Contains(err.Error(), "items[0].ttl"), true)
}

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	channel, err := grpc.DialContext(ctx, os.Args[1], grpc.WithInsecure(), grpc.WithBlock())
	must(err, "connecting")
	defer channel.Close()
	checkPolicies(ctx, ttlv1.NewContainerServiceClient(channel))
	checkItems(ctx, ttlv1.NewItemServiceClient(channel))
}

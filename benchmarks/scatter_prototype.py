import sys; sys.path.insert(0,'/work/w/scatter')
import math, numpy as np
from dataclasses import replace
from datasets import exhibit
from pages._ui.model import load_dataset
from pages._ui.folds import folds_of
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.data import Dataset
def with_s(m,s):
    m=replace(m); m.__dict__['noise_multiplier']=s; return m
name,eps,delta,draws=sys.argv[1],float(sys.argv[2]),float(sys.argv[3]),int(sys.argv[4])
rho=float(sys.argv[5]) if len(sys.argv)>5 else .15; stages=int(sys.argv[6]) if len(sys.argv)>6 else 3
data=load_dataset(name); s=noise_multiplier(eps,delta)
rng=np.random.default_rng(0)
today=[];new=[];sc=[]; rm=[[],[]]
for test in folds_of(data):
    keep=np.setdiff1d(np.arange(data.n),test); train=data.subset(keep); Xt=data.X[test]; yt=data.clipped_y[test]
    m0=BayesCloaking(epsilon=eps,delta=delta,gap=.03)
    plan0=m0.plan_for(train,Xt)
    r0=m0.measure(plan0,train,Xt,rng,draws,mean=False)
    lo,hi=r0.interval(.95)
    both=np.vstack([Xt,train.X]); P=len(Xt)
    mm=with_s(m0,s/math.sqrt(1-rho)); r=mm.measure(plan0,train,both,rng,draws,mean=False)
    g=r.samples; pred=r.uncertainty.prediction; w=pred.weights
    mean_=pred.mean; vc=(np.einsum('dm,dmp->dp',w,pred.variances+pred.means**2)-mean_**2)*data.y_scale**2
    wl,wh=r.interval(.95); 
    plan1=None
    for d in range(draws):
        A=min(float(np.median(wh[d]-wl[d]))/2,data.output_range/2)
        a=np.minimum(np.abs(train.clipped_y-g[d,P:]),A)
        der=replace(train,y=a,y_bounds=(0.0,A),y_scale=A/2)
        ms=with_s(BayesCloaking(epsilon=eps,delta=delta,gap=.03,stages=stages),s/math.sqrt(rho))
        if plan1 is None: plan1=ms.plan_for(der,Xt)
        q=ms.measure(plan1,der,Xt,rng,1,mean=False); pp=q.uncertainty.prediction
        sm=q.samples[0]; vs=((np.einsum('dm,dmp->dp',pp.weights,pp.variances+pp.means**2)-pp.mean**2)*(A/2)**2)[0]
        sig2=math.pi/2*(sm**2+vs)
        half=2.0*np.sqrt(sig2+vc[d,:P])
        for (l,h,acc) in ((lo[d],hi[d],today),(g[d,:P]-half,g[d,:P]+half,new)):
            out=np.maximum(l-yt,0)+np.maximum(yt-h,0)
            acc.append(np.stack([h-l+40*out,(out==0)*1.0,h-l],1))
        sc.append(sm)
        rm[0].append((r0.samples[d]-yt)**2); rm[1].append((g[d,:P]-yt)**2)
for n_,acc,e in (("today",today,rm[0]),("new",new,rm[1])):
    v=np.concatenate(acc).mean(0); print(n_,"score %.1f coverage %.3f width %.1f rmse %.2f"%(*v,math.sqrt(np.concatenate(e).mean())))
